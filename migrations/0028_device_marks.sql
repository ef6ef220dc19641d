-- By which a sign-in with a session bearer finds whether the account has had the device before.

-- The keyed hash of the device's name and user agent; null for sessions without a session bearer.
ALTER TABLE sessions ADD COLUMN device_mark bytea;

-- The sweep of session bearers that have ended.
CREATE INDEX session_bearers_ending ON session_bearers (application_id, idle_until);
