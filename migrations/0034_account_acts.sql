-- What administrators do with accounts.

-- Notes of administrators about people. They are erased with the account, and part of the person's export.
CREATE TABLE admin_notes (
    application_id int NOT NULL,
    id             uuid NOT NULL,
    uid            uuid NOT NULL,
    -- The text, which only the server can read.
    sealed         bytea NOT NULL,
    -- Who wrote it, and why, as in the audit.
    actor          jsonb NOT NULL,
    reason         jsonb,
    -- Written while the account is locked, so that a later note is never before an earlier one.
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (application_id, id),
    FOREIGN KEY (application_id, uid) REFERENCES accounts ON DELETE CASCADE
);
CREATE INDEX admin_notes_of_account ON admin_notes (application_id, uid, created_at, id);

-- The accounts that are to be enabled again.
CREATE INDEX accounts_disabled_until ON accounts (application_id, disabled_until) WHERE disabled_until IS NOT NULL;
