-- A password reset puts out people who got into the account: identities that were linked shortly before it open no
-- session until another sign-in of the account confirms them.
ALTER TABLE identities
    -- When it joined its account, where that was after it was created: by a merge, or with another address.
    ADD COLUMN joined_at timestamptz,
    -- Set by a password reset, cleared by another sign-in of the account or by its owner's review.
    ADD COLUMN quarantined_at timestamptz;

-- The password of an account that was reset while it was being deleted; the restore sets it.
ALTER TABLE proofs ADD COLUMN password_hash text COLLATE "C";
