-- Sessions of clients that know no refresh tokens, and the dialect that a session was opened through.

ALTER TABLE sessions
    -- refresh: by refresh tokens, or by a browser's cookie; none: it ends with its access token; bearer: by a row in
    -- session_bearers.
    ADD COLUMN renewal text NOT NULL DEFAULT 'refresh',
    ADD COLUMN dialect text;
-- NOT VALID saves the scan of the table, whose sessions all have the default.
ALTER TABLE sessions ADD CONSTRAINT sessions_renewal CHECK (
    renewal IN ('refresh', 'none', 'bearer') AND (kind = 'api' OR renewal = 'refresh')) NOT VALID;

-- The secrets that such clients send with each call.
CREATE TABLE session_bearers (
    application_id int NOT NULL,
    -- SHA-256 of the bearer's 32 random bytes.
    hash           bytea NOT NULL,
    session_id     uuid NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    -- The last use that was written: at most one in a day, and in a tenth of `idle`.
    used_at        timestamptz NOT NULL DEFAULT now(),
    -- How long it may stay unused.
    idle           interval NOT NULL,
    -- When it ends unless it is used; never later than expires_at.
    idle_until     timestamptz NOT NULL,
    -- When it ends in any case.
    expires_at     timestamptz NOT NULL,
    PRIMARY KEY (application_id, hash),
    FOREIGN KEY (application_id, session_id) REFERENCES sessions ON DELETE CASCADE,
    CONSTRAINT session_bearers_hash CHECK (octet_length(hash) = 32),
    CONSTRAINT session_bearers_ends CHECK (idle_until <= expires_at)
);
CREATE INDEX session_bearers_of_session ON session_bearers (application_id, session_id);
