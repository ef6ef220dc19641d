-- The foundation: applications, accounts, identities, passwords, sessions, one-time proofs and the outbox.
-- Every table of an application's data carries application_id first in its keys: isolation now, the distribution
-- key on a distributed PostgreSQL later. Names, addresses and subjects are compared byte by byte (COLLATE "C"):
-- they are normalised in one place before they come here.
-- Only small tables reference applications: every insert into a busy one would lock that one row.

CREATE TABLE applications (
    id         int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text COLLATE "C" NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- The one key that all others are derived from, wrapped by the master key, which is never here.
CREATE TABLE root_key (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    wrapped    bytea NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE signing_keys (
    application_id     int NOT NULL REFERENCES applications,
    kid                text COLLATE "C" NOT NULL,
    algorithm          text NOT NULL CHECK (algorithm IN ('RS256', 'ES256', 'EdDSA')),
    bits               int NOT NULL,
    sealed_private_key bytea NOT NULL,
    created_at         timestamptz NOT NULL DEFAULT now(),
    retired_at         timestamptz,
    published_until    timestamptz,
    PRIMARY KEY (application_id, kid),
    CHECK ((retired_at IS NULL) = (published_until IS NULL))
);
CREATE UNIQUE INDEX signing_keys_one_signs ON signing_keys (application_id) WHERE retired_at IS NULL;

CREATE TABLE accounts (
    application_id int NOT NULL,
    uid            uuid NOT NULL,
    display_name   text,
    metadata       jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(metadata) = 'object'),
    -- Audit rows name the account by a hash under this key; erasure destroys it.
    audit_key      bytea NOT NULL CHECK (octet_length(audit_key) = 32),
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    disabled_at    timestamptz,
    deleted_at     timestamptz,
    purge_after    timestamptz,
    PRIMARY KEY (application_id, uid),
    CHECK ((deleted_at IS NULL) = (purge_after IS NULL))
);

CREATE TABLE identities (
    application_id int NOT NULL,
    id             uuid NOT NULL,
    uid            uuid NOT NULL,
    provider       text COLLATE "C" NOT NULL,
    provider_uid   text COLLATE "C" NOT NULL CHECK (octet_length(provider_uid) BETWEEN 1 AND 255),
    is_guest       boolean NOT NULL DEFAULT false,
    email          text COLLATE "C",
    email_verified boolean NOT NULL DEFAULT false,
    display_name   text,
    profile        jsonb NOT NULL DEFAULT '{}',
    created_at     timestamptz NOT NULL DEFAULT now(),
    last_used_at   timestamptz,
    PRIMARY KEY (application_id, id),
    UNIQUE (application_id, provider, provider_uid),
    FOREIGN KEY (application_id, uid) REFERENCES accounts ON DELETE CASCADE,
    CHECK (email IS NOT NULL OR NOT email_verified)
) WITH (fillfactor = 90);
CREATE INDEX identities_of_account ON identities (application_id, uid);

-- Verified ownership: an address belongs to at most one account, be it in its grace period.
CREATE TABLE addresses (
    application_id int NOT NULL,
    kind           text NOT NULL CHECK (kind IN ('email', 'phone')),
    address        text COLLATE "C" NOT NULL,
    uid            uuid NOT NULL,
    verified_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (application_id, kind, address),
    FOREIGN KEY (application_id, uid) REFERENCES accounts ON DELETE CASCADE
);
CREATE INDEX addresses_of_account ON addresses (application_id, uid);

CREATE TABLE passwords (
    application_id int NOT NULL,
    identity_id    uuid NOT NULL,
    hash           text COLLATE "C" NOT NULL,
    must_change    boolean NOT NULL DEFAULT false,
    changed_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (application_id, identity_id),
    FOREIGN KEY (application_id, identity_id) REFERENCES identities ON DELETE CASCADE
);

-- No identity yet: one pending password per subject, a decoy where the address is taken.
CREATE TABLE registrations (
    application_id int NOT NULL,
    provider       text COLLATE "C" NOT NULL,
    provider_uid   text COLLATE "C" NOT NULL,
    id             uuid NOT NULL,
    address        text COLLATE "C" NOT NULL,
    hash           text COLLATE "C" NOT NULL,
    display_name   text,
    is_decoy       boolean NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz NOT NULL,
    PRIMARY KEY (application_id, provider, provider_uid)
);
CREATE INDEX registrations_of_address ON registrations (application_id, address);

-- Consecutive wrong passwords on one subject, known here or not; logged, so that a crash lifts no lock.
CREATE TABLE password_failures (
    application_id int NOT NULL,
    subject        bytea NOT NULL,
    failures       int NOT NULL,
    locked_until   timestamptz,
    failed_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (application_id, subject)
);

CREATE TABLE sessions (
    application_id int NOT NULL,
    id             uuid NOT NULL,
    uid            uuid NOT NULL,
    -- The identity that opened it; sessions outlive it only as ended ones.
    identity_id    uuid NOT NULL,
    methods        text[] NOT NULL,
    authenticated_at timestamptz NOT NULL DEFAULT now(),
    device         text,
    address        text,
    created_at     timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz NOT NULL,
    ended_at       timestamptz,
    end_reason     text,
    PRIMARY KEY (application_id, id),
    FOREIGN KEY (application_id, uid) REFERENCES accounts ON DELETE CASCADE,
    CHECK ((ended_at IS NULL) = (end_reason IS NULL))
);
CREATE INDEX sessions_of_account ON sessions (application_id, uid) WHERE ended_at IS NULL;
-- What a replica that (re)starts listening must know.
CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL;

-- Never updated: the row of a token's successor says that, and when, the token was presented.
CREATE TABLE refresh_tokens (
    application_id int NOT NULL,
    hash           bytea NOT NULL CHECK (octet_length(hash) = 32),
    session_id     uuid NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz NOT NULL,
    PRIMARY KEY (application_id, hash),
    FOREIGN KEY (application_id, session_id) REFERENCES sessions ON DELETE CASCADE
);
CREATE INDEX refresh_tokens_of_session ON refresh_tokens (application_id, session_id, created_at);

-- An account as its owner sees it: the oldest verified addresses, providers by age.
CREATE VIEW users AS
SELECT a.application_id, a.uid, a.display_name, a.metadata, a.created_at, a.updated_at,
       a.disabled_at IS NOT NULL AS is_disabled, a.purge_after,
       (SELECT d.address FROM addresses d
         WHERE d.application_id = a.application_id AND d.uid = a.uid AND d.kind = 'email'
         ORDER BY d.verified_at, d.address LIMIT 1) AS email,
       (SELECT d.address FROM addresses d
         WHERE d.application_id = a.application_id AND d.uid = a.uid AND d.kind = 'phone'
         ORDER BY d.verified_at, d.address LIMIT 1) AS phone,
       i.providers, i.is_anonymous
  FROM accounts a
 CROSS JOIN LATERAL (
       SELECT coalesce(array_agg(p.provider ORDER BY p.since, p.provider), '{}') AS providers,
              coalesce(bool_and(p.is_guest), false) AS is_anonymous
         FROM (SELECT provider, min(created_at) AS since, bool_and(is_guest) AS is_guest
                 FROM identities
                WHERE application_id = a.application_id AND uid = a.uid
                GROUP BY provider) p) i;

-- Every one-time secret, by hash. A secret of one kind is worth nothing where another is asked for.
CREATE TABLE proofs (
    application_id  int NOT NULL,
    kind            text NOT NULL,
    hash            bytea NOT NULL CHECK (octet_length(hash) = 32),
    provider        text COLLATE "C" NOT NULL,
    provider_uid    text COLLATE "C" NOT NULL,
    address         text COLLATE "C",
    uid             uuid,
    registration_id uuid,
    methods         text[] NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL,
    PRIMARY KEY (application_id, kind, hash)
);
CREATE INDEX proofs_of_subject ON proofs (application_id, kind, provider, provider_uid);
CREATE INDEX proofs_expiring ON proofs (expires_at);

CREATE TABLE outbox (
    application_id int NOT NULL,
    id             uuid NOT NULL,
    topic          text NOT NULL,
    -- The message, sealed: it holds one-time secrets. Forgotten once it is sent.
    sealed         bytea,
    created_at     timestamptz NOT NULL DEFAULT now(),
    due_at         timestamptz NOT NULL DEFAULT now(),
    attempts       int NOT NULL DEFAULT 0,
    sent_at        timestamptz,
    failed_at      timestamptz,
    failure        text,
    PRIMARY KEY (application_id, id),
    CHECK (sent_at IS NULL OR sealed IS NULL)
);
CREATE INDEX outbox_due ON outbox (due_at) WHERE sent_at IS NULL AND failed_at IS NULL;

CREATE TABLE erasures (
    application_id int NOT NULL,
    receipt        uuid NOT NULL,
    uid            uuid NOT NULL,
    requested_at   timestamptz NOT NULL DEFAULT now(),
    purge_after    timestamptz NOT NULL,
    restored_at    timestamptz,
    erased_at      timestamptz,
    PRIMARY KEY (application_id, receipt)
);
CREATE UNIQUE INDEX erasures_one_scheduled ON erasures (application_id, uid)
    WHERE restored_at IS NULL AND erased_at IS NULL;

CREATE TABLE audit_events (
    application_id int NOT NULL,
    id             uuid NOT NULL DEFAULT gen_random_uuid(),
    at             timestamptz NOT NULL DEFAULT now(),
    event          text NOT NULL,
    -- SHA-256 over the account's audit key and its uid; nobody's once the key is destroyed.
    account        bytea,
    session_id     uuid,
    details        jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (application_id, at, id)
) PARTITION BY RANGE (at);
CREATE TABLE audit_events_default PARTITION OF audit_events DEFAULT;

-- What sweepers look for.
CREATE INDEX sessions_expiring ON sessions (expires_at);
CREATE INDEX registrations_expiring ON registrations (expires_at);
CREATE INDEX password_failures_by_age ON password_failures (failed_at);
CREATE INDEX outbox_sent ON outbox (sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX accounts_to_purge ON accounts (purge_after) WHERE purge_after IS NOT NULL;
