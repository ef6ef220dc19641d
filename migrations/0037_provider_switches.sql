-- Modes of providers that an administrator has put over those of the configuration, for a limited time.

CREATE TABLE provider_switches (
    application_id int NOT NULL,
    id             uuid NOT NULL,
    provider       text COLLATE "C" NOT NULL,
    mode           text COLLATE "C" NOT NULL,
    -- The configuration's mode at that time: once it says another, the switch ends.
    file_mode      text COLLATE "C" NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    until          timestamptz NOT NULL,
    ended_at       timestamptz,
    end_reason     text COLLATE "C",
    PRIMARY KEY (application_id, id),
    CHECK ((ended_at IS NULL) = (end_reason IS NULL))
);
CREATE UNIQUE INDEX provider_switches_in_force ON provider_switches (application_id, provider) WHERE ended_at IS NULL;

-- What a switch would do, counted before it is confirmed. A plan is used up by its switch, or expires.
CREATE TABLE provider_plans (
    application_id int NOT NULL,
    id             uuid NOT NULL,
    provider       text COLLATE "C" NOT NULL,
    mode_from      text COLLATE "C" NOT NULL,
    mode_to        text COLLATE "C" NOT NULL,
    stranded       bigint NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (application_id, id)
);

-- Accounts that a switch concerns and that are yet to be told, or whose sessions are yet to be ended.
CREATE TABLE switched_accounts (
    application_id int NOT NULL,
    switch_id      uuid NOT NULL,
    uid            uuid NOT NULL,
    tells_owner    boolean NOT NULL,
    ends_sessions  boolean NOT NULL,
    PRIMARY KEY (application_id, switch_id, uid),
    FOREIGN KEY (application_id, uid) REFERENCES accounts ON DELETE CASCADE
);
CREATE INDEX switched_accounts_of_account ON switched_accounts (application_id, uid);

-- The modes in the configuration that was last served, with which the next one is compared.
CREATE TABLE provider_modes (
    application_id int NOT NULL,
    provider       text COLLATE "C" NOT NULL,
    kind           text COLLATE "C" NOT NULL,
    mode           text COLLATE "C" NOT NULL,
    PRIMARY KEY (application_id, provider)
);
