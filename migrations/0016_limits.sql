-- Codes that several networks ask for, and refusals that are counted instead of written one by one.

ALTER TABLE proofs
    -- The code alone, hashed with the id of the challenge that it was sent for: an alias of the challenge is judged by
    -- it. A code that the previous version sent has none, and so no alias.
    ADD COLUMN code_hash bytea CHECK (octet_length(code_hash) = 32),
    -- The network that had the code sent, by a keyed pseudonym.
    ADD COLUMN network bytea;

-- A challenge for a code that was sent because another network asked for it, with attempts of its own. It is worth
-- nothing once that code is used up or replaced.
CREATE TABLE code_aliases (
    application_id int NOT NULL,
    challenge_id   uuid NOT NULL,
    -- challenge_id of the code in proofs.
    code_id        uuid NOT NULL,
    network        bytea NOT NULL,
    attempts       int NOT NULL DEFAULT 0,
    expires_at     timestamptz NOT NULL,
    PRIMARY KEY (application_id, challenge_id),
    UNIQUE (application_id, code_id, network)
);
CREATE INDEX code_aliases_expiring ON code_aliases (expires_at);

-- Refusals of the running minute that name no account. Unlogged: a crash forgets them.
CREATE UNLOGGED TABLE refusals (
    application_id int NOT NULL,
    minute         timestamptz NOT NULL DEFAULT date_trunc('minute', now()),
    -- The client's, by a keyed pseudonym.
    network        bytea NOT NULL,
    route          text COLLATE "C" NOT NULL,
    -- The rule, the code or the reason.
    refusal        text COLLATE "C" NOT NULL,
    count          bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (application_id, minute, network, route, refusal)
);
