-- The audit's own clock, and what sweepers and exports look for.

-- When the event was written down, whatever its time says: it tells how long an event has been waiting for its seal.
-- An event of another day than that on which it is written down is none. Events from before have none.
ALTER TABLE audit_events ADD COLUMN inserted_at timestamptz;
ALTER TABLE audit_events ALTER COLUMN inserted_at SET DEFAULT clock_timestamp();
-- What no batch could take until now.
UPDATE audit_events
   SET at = now(), details = details || jsonb_build_object('at', at::text)
 WHERE batch IS NULL AND NOT at BETWEEN '2000-01-01' AND '2200-01-01';
ALTER TABLE audit_events
    ADD CONSTRAINT audit_events_in_time CHECK (
        isfinite(at) AND isfinite(inserted_at)
        AND at BETWEEN inserted_at - interval '24 hours' AND inserted_at + interval '24 hours') NOT VALID;

-- When the batch was sealed, by the clock of the server that did it: retention goes by this alone, since whoever can
-- write events can choose theirs. A batch of the version before has none, and counts as old as the next that has one.
ALTER TABLE audit_batches ADD COLUMN sealed_at timestamptz CHECK (isfinite(sealed_at));
CREATE INDEX audit_batches_by_age ON audit_batches (sealed_at);

-- An event leaves no sooner than its seal is past retention too. Dropping a month locks the whole audit: who signs in
-- meanwhile waits for as long as this does, so that it gives up soon, and is called again later.
CREATE OR REPLACE FUNCTION drop_audit_partitions(cutoff timestamptz) RETURNS int
    LANGUAGE plpgsql SET lock_timeout = '20ms' AS $$
DECLARE
    month_name text;
    last_batch bigint;
    is_sealed  boolean;
    last_old   bigint := (SELECT b.seq FROM audit_batches b WHERE b.sealed_at < cutoff ORDER BY b.sealed_at DESC LIMIT 1);
    dropped    int := 0;
BEGIN
    FOR month_name IN
        SELECT p.name FROM audit_partitions p WHERE p.upper_end <= cutoff ORDER BY p.upper_end FOR UPDATE SKIP LOCKED
    LOOP
        EXECUTE format(
            'SELECT max(batch), NOT EXISTS (SELECT FROM %1$I WHERE batch IS NULL) FROM %1$I', month_name)
           INTO last_batch, is_sealed;
        CONTINUE WHEN NOT is_sealed OR coalesce(last_batch, 0) > coalesce(last_old, 0);
        EXECUTE format('DROP TABLE IF EXISTS %I', month_name);
        DELETE FROM audit_partitions p WHERE p.name = month_name;
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;

ALTER FUNCTION prepare_audit_partitions() SET lock_timeout = '20ms';

-- What an export asks for, beside its account.
CREATE INDEX proofs_of_session ON proofs (application_id, session_id) WHERE session_id IS NOT NULL;

-- Ranges of a BRIN index stay as wide as they ever were: after the first month each sweep read the whole table.
DROP INDEX refresh_tokens_expiring;
CREATE INDEX refresh_tokens_expiring ON refresh_tokens (expires_at);

-- When a guest was last heard of, as the sweeper found it: it is not looked at again before it might be idle.
ALTER TABLE identities ADD COLUMN seen_at timestamptz;
DROP INDEX identities_of_guests;
CREATE INDEX identities_of_guests ON identities (application_id, coalesce(seen_at, created_at), id) WHERE is_guest;

-- What remains of an erasure tells days alone: by the very moment one could find the account in the audit.
CREATE FUNCTION whole_day(moment timestamptz) RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN date_trunc('day', moment, 'UTC');

-- An id that tells its day alone: the first 48 bits are its time (RFC 9562, version 7).
CREATE FUNCTION whole_day(id uuid) RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (lpad(to_hex(
        ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 86400000 * 86400000), 12, '0')
        || substr(replace(id::text, '-', ''), 13))::uuid;

-- Settled ones go after a month, but for those that an erasure's receipt tells of.
ALTER TABLE token_revocations ADD COLUMN is_of_erasure boolean NOT NULL DEFAULT false;
CREATE INDEX token_revocations_ended ON token_revocations (created_at)
    WHERE (revoked_at IS NOT NULL OR failed_at IS NOT NULL) AND NOT is_of_erasure;
UPDATE token_revocations r SET is_of_erasure = true
  FROM erasures e
 WHERE e.application_id = r.application_id AND e.uid = r.uid AND e.erased_at IS NOT NULL;

-- A merge that can't be undone any more, or has been, needs no addresses for it.
CREATE INDEX merges_over ON merges (least(undo_until, undone_at)) WHERE address_kinds <> '{}' OR filled <> '{}';
CREATE INDEX outbox_failed ON outbox (failed_at) WHERE failed_at IS NOT NULL;
