-- What is on its way to a person, or from one, is found by whoever erases or exports their account.

-- Who is told, as far as anybody knew when the message was written; unlike the recipient's mark it stays once that is sent.
ALTER TABLE outbox ADD COLUMN uid uuid;
CREATE INDEX outbox_of_account ON outbox (application_id, uid) WHERE uid IS NOT NULL;

-- Whom the sealed evidence is about and which addresses it brings, under a key outside the database; forgotten with it.
ALTER TABLE redirect_flows ADD COLUMN marks bytea[];
CREATE INDEX redirect_flows_by_mark ON redirect_flows USING gin (marks) WHERE marks IS NOT NULL;
CREATE INDEX redirect_flows_of_session ON redirect_flows (application_id, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX redirect_flows_linking ON redirect_flows (application_id, linking_session)
    WHERE linking_session IS NOT NULL;
