-- A session that is renewed keeps its id; the tokens that it had before are refused.

ALTER TABLE sessions
    -- How often it was renewed. Access tokens name the generation that they belong to.
    ADD COLUMN generation int NOT NULL DEFAULT 0,
    ADD COLUMN renewed_at timestamptz;
-- What a replica that starts listening must know.
CREATE INDEX sessions_renewed ON sessions (renewed_at) WHERE renewed_at IS NOT NULL;

-- The session's when the token was made; null for one that a session was opened with, or that an earlier version made.
ALTER TABLE refresh_tokens ADD COLUMN generation int;
