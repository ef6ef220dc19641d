-- Administrators: the keys of programs that call the admin API, and the roles of people.

CREATE TABLE service_keys (
    application_id int NOT NULL,
    id             text COLLATE "C" NOT NULL,
    name           text NOT NULL,
    scopes         text[] NOT NULL CHECK (cardinality(scopes) > 0),
    -- Address ranges from which the key may be used; empty for anywhere.
    clients        text[] NOT NULL DEFAULT '{}',
    hash           bytea NOT NULL CHECK (octet_length(hash) = 32),
    -- The former secret, which counts until then after a rotation.
    previous_hash  bytea,
    previous_until timestamptz,
    created_at     timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz NOT NULL,
    revoked_at     timestamptz,
    last_used_at   timestamptz,
    PRIMARY KEY (application_id, id),
    CHECK ((previous_hash IS NULL) = (previous_until IS NULL))
);

CREATE TABLE admin_grants (
    -- The application whose accounts administrators are.
    application_id int NOT NULL,
    uid            uuid NOT NULL,
    -- The application that the role is for; 0 for all.
    granted_on     int NOT NULL,
    role           text COLLATE "C" NOT NULL,
    -- The identities in whose sessions the grant counts.
    identities     uuid[] NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (application_id, uid, granted_on),
    FOREIGN KEY (application_id, uid) REFERENCES accounts ON DELETE CASCADE
);

ALTER TABLE accounts
    -- When a disabled account is enabled again.
    ADD COLUMN disabled_until timestamptz;
