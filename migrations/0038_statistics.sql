-- What the server counts for administrators, by minute and by hour.

CREATE TABLE statistics (
    application_id int NOT NULL,
    name           text COLLATE "C" NOT NULL,
    -- A provider, a rule or another name of a fixed set; empty if the number has no parts.
    label          text COLLATE "C" NOT NULL,
    step           text COLLATE "C" NOT NULL CHECK (step IN ('minute', 'hour')),
    -- The beginning of the minute or hour.
    at             timestamptz NOT NULL,
    count          bigint NOT NULL,
    PRIMARY KEY (application_id, name, step, at, label)
);

CREATE INDEX statistics_age ON statistics (application_id, step, at);
