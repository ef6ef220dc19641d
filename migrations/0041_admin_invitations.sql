-- Links with which people become administrators; each is a proof of `admin.application`.

ALTER TABLE proofs
    -- The role that the link gives, and the application that it is for; 0 for all.
    ADD COLUMN admin_role text COLLATE "C",
    ADD COLUMN granted_on int,
    -- The administrator who made the link; null for a command.
    ADD COLUMN invited_by uuid,
    ADD CONSTRAINT proofs_admin_invitations CHECK (
        (admin_role IS NOT NULL) = (kind = 'admin-invitation')
        AND (granted_on IS NOT NULL) = (kind = 'admin-invitation')),
    ADD FOREIGN KEY (application_id, invited_by) REFERENCES accounts ON DELETE CASCADE;
CREATE INDEX proofs_invited_by ON proofs (application_id, invited_by) WHERE invited_by IS NOT NULL;
