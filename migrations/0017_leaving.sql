-- Sessions that take the place of others, and an audit that no session leads back to once the account is erased.

ALTER TABLE sessions
    -- The session whose place this one takes: it was ended by a merge, or by a deletion that was called off. What that
    -- session alone could finish, this one can.
    ADD COLUMN continues uuid;

-- The session that asked for the deletion, whose place a restored one takes; removed by the erasure.
ALTER TABLE erasures ADD COLUMN session_id uuid;

-- Whether a session may finish what was begun with the bearer of another, or without one: a session that takes the
-- place of others counts as each of them, and all these as the one that they authenticated again from.
CREATE OR REPLACE FUNCTION may_finish(application int, presented uuid, begun_by uuid) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN begun_by IS NULL OR begun_by = presented OR EXISTS (
        WITH RECURSIVE same AS (
            SELECT presented AS id
            UNION
            SELECT s.continues FROM same JOIN sessions s ON s.application_id = application AND s.id = same.id
             WHERE s.continues IS NOT NULL
        )
        SELECT FROM same JOIN sessions s ON s.application_id = application AND s.id = same.id
         WHERE begun_by IN (s.continues, s.resumes));

-- The name of a session in the audit, under the key of its account that erasure destroys. Events of earlier versions
-- have the session's own id: they are sealed, and stay as they are until they are past retention.
CREATE FUNCTION session_pseudonym(audit_key bytea, session uuid) RETURNS uuid
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN encode(substr(sha256(audit_key || 'session'::bytea || uuid_send(session)), 1, 16), 'hex')::uuid;
