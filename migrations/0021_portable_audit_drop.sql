-- Citus accepts no subquery beside an aggregate of the same partition: the function asks two questions instead of one.

CREATE OR REPLACE FUNCTION drop_audit_partitions(cutoff timestamptz) RETURNS int
    LANGUAGE plpgsql SET lock_timeout = '20ms' AS $$
DECLARE
    month_name text;
    last_batch bigint;
    unsealed   bigint;
    last_old   bigint := (SELECT b.seq FROM audit_batches b WHERE b.sealed_at < cutoff ORDER BY b.sealed_at DESC LIMIT 1);
    dropped    int := 0;
BEGIN
    FOR month_name IN
        SELECT p.name FROM audit_partitions p WHERE p.upper_end <= cutoff ORDER BY p.upper_end FOR UPDATE SKIP LOCKED
    LOOP
        EXECUTE format('SELECT count(*) FROM (SELECT 1 FROM %I WHERE batch IS NULL LIMIT 1) AS unsealed', month_name)
           INTO unsealed;
        CONTINUE WHEN unsealed > 0;
        EXECUTE format('SELECT max(batch) FROM %I', month_name) INTO last_batch;
        CONTINUE WHEN coalesce(last_batch, 0) > coalesce(last_old, 0);
        EXECUTE format('DROP TABLE IF EXISTS %I', month_name);
        DELETE FROM audit_partitions p WHERE p.name = month_name;
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END $$;
