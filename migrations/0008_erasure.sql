-- Erasure: in steps that can be run again, with what must outlast the account that is gone.

ALTER TABLE erasures
    -- Its grace period is over and its tokens are handed over: the time that processors have runs from here.
    ADD COLUMN began_at timestamptz,
    -- Some replica has it until then, or it waits for its processors.
    ADD COLUMN look_again_at timestamptz,
    -- A JWS over what was erased; it names nobody but by uid.
    ADD COLUMN certificate text,
    ADD CHECK (certificate IS NULL OR erased_at IS NOT NULL),
    ADD CHECK (restored_at IS NULL OR erased_at IS NULL);

-- What certificates are signed with. Apart from the keys of access tokens, which an earlier version would take these
-- for; published for ever.
CREATE TABLE erasure_keys (
    application_id     int NOT NULL REFERENCES applications,
    kid                text COLLATE "C" NOT NULL,
    algorithm          text NOT NULL CHECK (algorithm IN ('RS256', 'ES256', 'EdDSA')),
    bits               int NOT NULL,
    sealed_private_key bytea NOT NULL,
    created_at         timestamptz NOT NULL DEFAULT now(),
    retired_at         timestamptz,
    PRIMARY KEY (application_id, kid)
);
CREATE UNIQUE INDEX erasure_keys_one_signs ON erasure_keys (application_id) WHERE retired_at IS NULL;

-- Sessions of erased accounts, as long as an access token of theirs may be about. They name nobody.
CREATE TABLE ended_sessions (
    application_id int NOT NULL,
    id             uuid NOT NULL,
    forget_after   timestamptz NOT NULL,
    PRIMARY KEY (application_id, id)
);
CREATE INDEX ended_sessions_expiring ON ended_sessions (forget_after);

-- A token that is given back, or given up, is forgotten.
ALTER TABLE token_revocations
    ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid(),
    ADD COLUMN leased_until timestamptz,
    ADD COLUMN failure text,
    ADD CHECK (failed_at IS NULL OR sealed IS NULL),
    ADD CHECK (revoked_at IS NULL OR failed_at IS NULL);
CREATE UNIQUE INDEX token_revocations_by_id ON token_revocations (id);

-- Whose address the message goes to, under a key outside the database; forgotten once it is sent.
ALTER TABLE outbox ADD COLUMN recipient bytea;
CREATE INDEX outbox_by_recipient ON outbox (application_id, recipient) WHERE recipient IS NOT NULL;

-- What is issued for an account goes with it, and cannot be issued for one that is gone.
ALTER TABLE proofs ADD FOREIGN KEY (application_id, uid) REFERENCES accounts ON DELETE CASCADE;
CREATE INDEX proofs_of_account ON proofs (application_id, uid) WHERE uid IS NOT NULL;
CREATE INDEX proofs_to_address ON proofs (application_id, address) WHERE address IS NOT NULL;
ALTER TABLE registrations ADD FOREIGN KEY (application_id, uid) REFERENCES accounts ON DELETE CASCADE;
CREATE INDEX registrations_of_account ON registrations (application_id, uid) WHERE uid IS NOT NULL;

-- What sweepers look for. Tokens are written in the order in which they expire, or nearly so.
CREATE INDEX identities_of_guests ON identities (application_id, created_at, id) WHERE is_guest;
CREATE INDEX refresh_tokens_expiring ON refresh_tokens USING brin (expires_at);
