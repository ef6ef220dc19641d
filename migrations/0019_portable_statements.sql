-- Citus accepts only immutable functions in an UPDATE that applies them to columns. Both always were: the day is that of
-- UTC, whatever the session's time zone.

CREATE OR REPLACE FUNCTION whole_day(moment timestamptz) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN date_trunc('day', moment AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';

CREATE OR REPLACE FUNCTION whole_day(id uuid) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (lpad(to_hex(
        ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 86400000 * 86400000), 12, '0')
        || substr(replace(id::text, '-', ''), 13))::uuid;
