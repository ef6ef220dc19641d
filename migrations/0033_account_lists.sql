-- Lists of accounts and searches by administrators. Creating an index reads its table once, and changes of the table
-- wait meanwhile.

-- All accounts, and those of each state that few accounts have, the newest first.
CREATE INDEX accounts_by_age ON accounts (application_id, created_at, uid);
CREATE INDEX accounts_disabled_by_age ON accounts (application_id, created_at, uid) WHERE disabled_at IS NOT NULL;
CREATE INDEX accounts_deleted_by_age ON accounts (application_id, created_at, uid) WHERE deleted_at IS NOT NULL;
CREATE INDEX accounts_absorbed_by_age ON accounts (application_id, created_at, uid) WHERE absorbed_by IS NOT NULL;

-- Accounts by the beginning of their names, compared byte by byte.
CREATE INDEX accounts_by_name ON accounts (application_id, (lower(display_name) COLLATE "C"), uid)
    WHERE display_name IS NOT NULL;

-- The accounts with an identity of a provider, and guests, the newest first: the uid of an account begins with the time
-- of its creation.
CREATE INDEX identities_of_provider ON identities (application_id, provider, uid);
CREATE INDEX identities_of_guest_accounts ON identities (application_id, uid) WHERE is_guest;
