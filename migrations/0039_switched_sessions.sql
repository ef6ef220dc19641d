ALTER TABLE provider_switches
    -- When the sessions that the provider has opened are listed once more: a server that missed the notification of the
    -- switch has signed people in meanwhile. Empty if no sessions are to end, or once they are listed.
    ADD COLUMN sessions_listed_at timestamptz;
