-- How often something was asked for lately, over all replicas. Unlogged: counting costs no write-ahead log, and a crash
-- forgets it, unlike the failures that lock an identity.

CREATE UNLOGGED TABLE rate_limits (
    application_id int NOT NULL,
    -- The limit and its rate: a changed rate counts anew.
    name           text COLLATE "C" NOT NULL,
    -- A client's network or a target, by a keyed pseudonym.
    subject        bytea NOT NULL,
    -- When the subject will have its whole limit again; from then on the row says nothing.
    full_at        timestamptz NOT NULL,
    -- Whether the last call was one too many.
    is_refused     boolean NOT NULL DEFAULT false,
    PRIMARY KEY (application_id, name, subject)
);
CREATE INDEX rate_limits_expiring ON rate_limits (full_at);
