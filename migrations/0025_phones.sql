-- Clients that register themselves, sign-in across devices, and sessions that an app or another device has opened.

ALTER TABLE sessions
    -- Opened by another device or by an app, and nothing was proven in it since: it never counts as recent.
    ADD COLUMN is_borrowed boolean NOT NULL DEFAULT false,
    -- Whether an app's session was given a secret that opens a browser session, which then has it as its parent.
    ADD COLUMN has_lent boolean NOT NULL DEFAULT false;
-- A browser session that an app has opened ends with the app's session, its parent.
ALTER TABLE sessions DROP CONSTRAINT sessions_kind;
ALTER TABLE sessions ADD CONSTRAINT sessions_kind CHECK (
    kind IN ('api', 'browser', 'client')
    AND (kind = 'client') = (client_id IS NOT NULL) AND (kind = 'client') = (issuer IS NOT NULL)
    AND (kind <> 'api' OR parent_id IS NULL) AND (kind = 'browser' OR browser_hash IS NULL)) NOT VALID;

-- Clients that have registered themselves, among them each installation of a mobile app (an instance).
CREATE TABLE clients (
    application_id    int NOT NULL REFERENCES applications,
    client_id         text COLLATE "C" NOT NULL,
    -- The issuer at which it has registered; it is unknown at others.
    issuer            text COLLATE "C" NOT NULL,
    -- What is registered of the client; of an instance, what its statement has instead of the configuration.
    metadata          jsonb NOT NULL,
    -- SHA-256 of the secret, and of the token that reads and deletes the registration.
    secret_hash       bytea,
    registration_hash bytea NOT NULL,
    -- The software of an instance; null for other clients.
    software          text COLLATE "C",
    device_type       text,
    device_name       text,
    -- What the registration counts towards: the software and the network of an instance, as a keyed hash; empty for
    -- other clients.
    quota             bytea NOT NULL DEFAULT '',
    -- Its number among the registrations that count; null for an instance that no longer does.
    slot              int,
    -- The account that has signed in on an instance, and the session that this opened. With that session the instance
    -- ends.
    uid               uuid,
    session_id        uuid,
    -- The lane of its back-channel logout deliveries; null without a URI for them.
    logout_lane       text,
    created_at        timestamptz NOT NULL DEFAULT now(),
    -- Of an instance, its session has the last use.
    last_used_at      timestamptz,
    -- When it ends unless it is used: an instance, unless somebody signs in; others, if they are idle.
    expires_at        timestamptz NOT NULL,
    -- Set with expires_at; the row goes when the sessions have ended.
    deleted_at        timestamptz,
    PRIMARY KEY (application_id, client_id),
    FOREIGN KEY (application_id, uid) REFERENCES accounts ON DELETE CASCADE,
    CONSTRAINT clients_hashes CHECK (octet_length(registration_hash) = 32 AND octet_length(secret_hash) = 32),
    CONSTRAINT clients_bound CHECK ((uid IS NULL) = (session_id IS NULL) AND (uid IS NULL OR software IS NOT NULL)),
    CONSTRAINT clients_instances CHECK ((software IS NULL) = (device_type IS NULL)),
    CONSTRAINT clients_slot CHECK (
        CASE WHEN software IS NULL THEN slot IS NOT NULL AND slot BETWEEN 0 AND 9999 ELSE slot BETWEEN 0 AND 999 END)
);
CREATE INDEX clients_of_account ON clients (application_id, uid) WHERE uid IS NOT NULL;
CREATE INDEX clients_of_session ON clients (application_id, session_id) WHERE session_id IS NOT NULL;
-- The others end with their sessions.
CREATE INDEX clients_expiring ON clients (application_id, expires_at) WHERE session_id IS NULL;
-- Limits the registrations that count: as many as there are slots.
CREATE UNIQUE INDEX clients_slots ON clients (application_id, quota, slot) WHERE slot IS NOT NULL;
CREATE INDEX sessions_of_registered ON sessions (application_id, client_id)
    WHERE client_id LIKE 'reg~%' AND ended_at IS NULL;
CREATE INDEX sessions_of_gone_instances ON sessions (application_id, client_id)
    WHERE client_id LIKE 'dyn~%' AND ended_at IS NOT NULL;
CREATE INDEX consents_of_registered ON consents (application_id, client_id) WHERE client_id LIKE 'reg~%';

-- Sign-ins that a second device answers: by QR code, or for a device without a keyboard (RFC 8628).
CREATE TABLE handoffs (
    application_id int NOT NULL REFERENCES applications,
    -- SHA-256 of the QR code, or of the device code.
    hash           bytea NOT NULL,
    kind           text NOT NULL,
    -- What replicas are told when it changes; it opens nothing.
    id             uuid NOT NULL,
    -- The keyed hash of the code that a person types (RFC 8628).
    user_code      bytea,
    client_id      text COLLATE "C" NOT NULL,
    issuer         text COLLATE "C" NOT NULL,
    -- SHA-256 of the request whose page shows the QR code.
    request_hash   bytea,
    scopes         text[] NOT NULL DEFAULT '{}',
    resources      text[] NOT NULL DEFAULT '{}',
    state          text NOT NULL DEFAULT 'waiting',
    -- What the person types on the phone, drawn when the phone has looked.
    number         int,
    -- Whether the app shows the number, because it has no field to type it.
    is_shown       boolean NOT NULL DEFAULT false,
    -- The account and the session that have looked or answered.
    uid            uuid,
    session_id     uuid,
    -- The address and the user agent of the device that asks, sealed.
    sealed         bytea NOT NULL,
    polled_at      timestamptz,
    -- How long a device waits between two polls.
    poll_interval  interval,
    created_at     timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz NOT NULL,
    PRIMARY KEY (application_id, hash),
    FOREIGN KEY (application_id, uid) REFERENCES accounts ON DELETE CASCADE,
    CONSTRAINT handoffs_kind CHECK (kind IN ('qr', 'device')),
    CONSTRAINT handoffs_state CHECK (state IN ('waiting', 'scanned', 'confirmed', 'refused', 'used')),
    CONSTRAINT handoffs_hash CHECK (octet_length(hash) = 32),
    CONSTRAINT handoffs_of_kind CHECK (
        (kind = 'qr') = (request_hash IS NOT NULL) AND (kind = 'device') = (user_code IS NOT NULL)),
    CONSTRAINT handoffs_answered CHECK ((uid IS NULL) = (session_id IS NULL)),
    CONSTRAINT handoffs_number CHECK (number BETWEEN 10 AND 99)
);
CREATE UNIQUE INDEX handoffs_by_user_code ON handoffs (application_id, user_code) WHERE user_code IS NOT NULL;
CREATE INDEX handoffs_of_request ON handoffs (application_id, request_hash) WHERE request_hash IS NOT NULL;
CREATE INDEX handoffs_of_account ON handoffs (application_id, uid) WHERE uid IS NOT NULL;
CREATE INDEX handoffs_expiring ON handoffs (application_id, expires_at);
