-- Every key of an application's table begins with it, as a distributed PostgreSQL asks of unique ones.

CREATE UNIQUE INDEX token_revocations_id ON token_revocations (application_id, id);
DROP INDEX token_revocations_by_id;
