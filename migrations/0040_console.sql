-- Sessions of administrators at the console.

CREATE TABLE console_sessions (
    -- The application whose accounts administrators are.
    application_id int NOT NULL,
    -- SHA-256 of the cookie.
    hash           bytea NOT NULL CHECK (octet_length(hash) = 32),
    uid            uuid NOT NULL,
    -- The session of the client gatehouse-console; without it this one is over.
    session_id     uuid NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    used_at        timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz NOT NULL,
    -- The form that the person had typed when they were asked to prove again who they are; sealed.
    typed          bytea,
    typed_until    timestamptz,
    PRIMARY KEY (application_id, hash),
    CHECK ((typed IS NULL) = (typed_until IS NULL)),
    FOREIGN KEY (application_id, uid) REFERENCES accounts ON DELETE CASCADE
);
CREATE INDEX console_sessions_of_account ON console_sessions (application_id, uid);
CREATE INDEX console_sessions_expiring ON console_sessions (application_id, expires_at);
