-- Codes that are sent to an address: a proof with an id that is told to whoever asked, and attempts that are counted.

ALTER TABLE proofs
    ADD COLUMN challenge_id uuid,
    -- The one session that may answer, where it was begun with a bearer.
    ADD COLUMN session_id uuid,
    ADD COLUMN address_kind text NOT NULL DEFAULT 'email' CHECK (address_kind IN ('email', 'phone')),
    ADD COLUMN attempts int NOT NULL DEFAULT 0,
    ADD CHECK ((challenge_id IS NOT NULL) = (kind = 'code'));

CREATE UNIQUE INDEX proofs_challenge ON proofs (application_id, challenge_id) WHERE kind = 'code';
-- A new code of a target ends the one before.
CREATE UNIQUE INDEX proofs_one_code ON proofs
    (application_id, provider, provider_uid, coalesce(session_id, '00000000-0000-0000-0000-000000000000'))
    WHERE kind = 'code';

-- Wrong codes of an address, across all its challenges; logged, so that a crash lifts no cap.
CREATE TABLE code_guesses (
    application_id int NOT NULL,
    subject        bytea NOT NULL CHECK (octet_length(subject) = 32),
    wrong          int NOT NULL,
    since          timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (application_id, subject)
);
CREATE INDEX code_guesses_by_age ON code_guesses (since);
