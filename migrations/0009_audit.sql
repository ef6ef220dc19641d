-- The audit's chain: one leader seals events in batches under a key that is not here. Statements that write events know
-- nothing of it: an event that commits late goes into a later batch, whatever its time.

ALTER TABLE audit_events ADD COLUMN batch bigint;
CREATE INDEX audit_events_by_batch ON audit_events (batch, at);
CREATE INDEX audit_events_of_account ON audit_events (application_id, account, at) WHERE account IS NOT NULL;

CREATE TABLE audit_batches (
    seq      bigint PRIMARY KEY CHECK (seq > 0),
    -- The MAC of the batch before; empty in the very first one.
    previous bytea NOT NULL,
    first_at timestamptz NOT NULL,
    last_at  timestamptz NOT NULL,
    events   int NOT NULL CHECK (events > 0),
    digest   bytea NOT NULL CHECK (octet_length(digest) = 32),
    -- Over all of the above: what remains of a batch once its events are past retention.
    mac      bytea NOT NULL CHECK (octet_length(mac) = 32)
);

-- Each but the default one, month by month; the first holds all that came before.
CREATE TABLE audit_partitions (
    name       text PRIMARY KEY,
    lower_end  timestamptz NOT NULL,
    upper_end  timestamptz NOT NULL UNIQUE
);

DO $$
DECLARE
    bound timestamptz := (date_trunc('month', now() AT TIME ZONE 'UTC') + interval '2 months') AT TIME ZONE 'UTC';
BEGIN
    ALTER TABLE audit_events DETACH PARTITION audit_events_default;
    ALTER TABLE audit_events_default RENAME TO audit_events_first;
    EXECUTE format(
        'ALTER TABLE audit_events ATTACH PARTITION audit_events_first FOR VALUES FROM (MINVALUE) TO (%L)', bound);
    CREATE TABLE audit_events_default PARTITION OF audit_events DEFAULT;
    INSERT INTO audit_partitions VALUES ('audit_events_first', '-infinity', bound);
END $$;

-- Makes the partitions of the next two months. What is in the default one, because nobody made them in time, moves.
-- Nobody who signs in waits for long: a lock that is not free at once is asked for again at the next call.
CREATE FUNCTION prepare_audit_partitions() RETURNS int
    LANGUAGE plpgsql SET lock_timeout = '200ms' AS $$
DECLARE
    bound      timestamptz;
    beyond     timestamptz;
    month_name text;
    made       int := 0;
BEGIN
    LOOP
        SELECT coalesce(max(p.upper_end), date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')
          INTO bound FROM audit_partitions p;
        EXIT WHEN bound >= now() + interval '2 months';
        beyond := ((bound AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC';
        month_name := to_char(bound AT TIME ZONE 'UTC', '"audit_events_"YYYY_MM');
        INSERT INTO audit_partitions VALUES (month_name, bound, beyond) ON CONFLICT DO NOTHING;
        EXIT WHEN NOT FOUND;
        EXECUTE format('CREATE TABLE %I (LIKE audit_events INCLUDING ALL)', month_name);
        LOCK TABLE audit_events_default IN ACCESS EXCLUSIVE MODE;
        EXECUTE format(
            'WITH moved AS (DELETE FROM audit_events_default WHERE at >= %L AND at < %L RETURNING *) '
            'INSERT INTO %I SELECT * FROM moved', bound, beyond, month_name);
        EXECUTE format(
            'ALTER TABLE audit_events ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', month_name, bound, beyond);
        made := made + 1;
    END LOOP;
    RETURN made;
END $$;

-- Drops the partitions whose last event would be older.
CREATE FUNCTION drop_audit_partitions(cutoff timestamptz) RETURNS int
    LANGUAGE plpgsql SET lock_timeout = '200ms' AS $$
DECLARE
    month_name text;
    dropped    int := 0;
BEGIN
    FOR month_name IN
        SELECT p.name FROM audit_partitions p WHERE p.upper_end <= cutoff ORDER BY p.upper_end FOR UPDATE SKIP LOCKED
    LOOP
        EXECUTE format('DROP TABLE IF EXISTS %I', month_name);
        DELETE FROM audit_partitions p WHERE p.name = month_name;
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;

-- What an export looks for: all that is held about an account, be it over.
DROP INDEX sessions_of_account;
CREATE INDEX sessions_of_account ON sessions (application_id, uid);
CREATE INDEX erasures_of_account ON erasures (application_id, uid);
CREATE INDEX merges_by_absorbed ON merges (application_id, absorbed);

-- An account, and those that it has absorbed, and those that these had.
CREATE FUNCTION uids_of(application int, account uuid) RETURNS SETOF uuid
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    WITH RECURSIVE lineage AS (
        SELECT account AS uid
        UNION
        SELECT a.uid FROM lineage l JOIN accounts a ON a.application_id = application AND a.absorbed_by = l.uid
    )
    SELECT uid FROM lineage
$$;

-- As answers have it: UTC, milliseconds.
CREATE FUNCTION rfc3339(moment timestamptz) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
