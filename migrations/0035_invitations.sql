-- Links that administrators have sent: invitations, and links that let the owner into an account.

ALTER TABLE proofs
    -- The display name, the roles and the claims of the account that an invitation creates.
    ADD COLUMN invitation jsonb;
