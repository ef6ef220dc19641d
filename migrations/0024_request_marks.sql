-- What a sealed authorization request contains about accounts, by which an erasure finds the request: addresses as
-- keyed hashes under a key outside the database, and ids of sessions.
ALTER TABLE authorization_requests ADD COLUMN marks bytea[];
CREATE INDEX authorization_requests_by_mark ON authorization_requests USING gin (marks) WHERE marks IS NOT NULL;
