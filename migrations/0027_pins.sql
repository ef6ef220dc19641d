-- PINs, which unlock a locked folder in a session that is signed in already.

CREATE TABLE pins (
    application_id int NOT NULL,
    uid            uuid NOT NULL,
    -- Argon2id of the PIN's HMAC, as a PHC string.
    hash           text NOT NULL,
    changed_at     timestamptz NOT NULL DEFAULT now(),
    -- The tries since the PIN was set that were not right; at 20 the PIN is void.
    wrong_in_all   int NOT NULL DEFAULT 0,
    PRIMARY KEY (application_id, uid),
    FOREIGN KEY (application_id, uid) REFERENCES accounts ON DELETE CASCADE,
    CONSTRAINT pins_wrong CHECK (wrong_in_all BETWEEN 0 AND 20)
);

-- Until when a session is unlocked by the PIN; null if it is locked.
ALTER TABLE sessions ADD COLUMN elevated_until timestamptz;
