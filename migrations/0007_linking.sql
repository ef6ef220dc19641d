-- One person, one account: linking bound to a session, merging with a way back, changes of address.

-- An account that another has absorbed is an alias of it: it keeps its name and metadata for the way back, and has
-- nothing left that could sign in.
ALTER TABLE accounts
    ADD COLUMN absorbed_by uuid,
    ADD FOREIGN KEY (application_id, absorbed_by) REFERENCES accounts ON DELETE CASCADE,
    ADD CHECK (absorbed_by <> uid);
CREATE INDEX accounts_absorbed ON accounts (application_id, absorbed_by) WHERE absorbed_by IS NOT NULL;

ALTER TABLE sessions
    -- The session whose bearer asked for this one, by authenticating again or by linking: what was begun there may be
    -- finished here.
    ADD COLUMN resumes uuid,
    -- The account that a guest turned out to have: for a minute its bearer may repeat the call that found out.
    ADD COLUMN successor_uid uuid,
    ADD CHECK (successor_uid IS NULL OR ended_at IS NOT NULL);

-- Whether a session may finish what was begun with the bearer of another, or without one.
CREATE FUNCTION may_finish(application int, presented uuid, begun_by uuid) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN begun_by IS NULL OR begun_by = presented
        OR begun_by = (SELECT s.resumes FROM sessions s WHERE s.application_id = application AND s.id = presented);

-- The one session that may link what the flow brings; null for a flow that signs in.
ALTER TABLE redirect_flows ADD COLUMN linking_session uuid;

-- A password that waits to join this account, instead of opening one; what a guest wants where the address turns out to
-- be another account's.
ALTER TABLE registrations
    ADD COLUMN uid uuid,
    ADD COLUMN on_conflict text NOT NULL DEFAULT 'keep' CHECK (on_conflict IN ('keep', 'switch', 'merge'));

-- A code to a new address of an identity: the address is the subject, and the identity has one such wish at a time.
ALTER TABLE proofs ADD COLUMN identity_id uuid;
ALTER TABLE proofs DROP CONSTRAINT proofs_check;
ALTER TABLE proofs
    ADD CONSTRAINT proofs_challenges CHECK ((challenge_id IS NOT NULL) = (kind IN ('code', 'address-change'))),
    ADD CONSTRAINT proofs_changes CHECK ((identity_id IS NOT NULL) = (kind = 'address-change'));
CREATE UNIQUE INDEX proofs_change ON proofs (application_id, challenge_id) WHERE kind = 'address-change';
CREATE UNIQUE INDEX proofs_one_change ON proofs (application_id, identity_id) WHERE kind = 'address-change';

-- What of two accounts became one, exactly enough to part them again.
CREATE TABLE merges (
    application_id  int NOT NULL,
    id              uuid NOT NULL,
    survivor        uuid NOT NULL,
    absorbed        uuid NOT NULL,
    merged_at       timestamptz NOT NULL DEFAULT now(),
    undo_until      timestamptz NOT NULL,
    undone_at       timestamptz,
    identities      uuid[] NOT NULL,
    -- Guests' identities that the survivor gave up for them; the absorbed account keeps them.
    parked          uuid[] NOT NULL,
    -- Kinds and values, side by side.
    address_kinds   text[] NOT NULL,
    addresses       text[] NOT NULL,
    -- What the survivor lacked and took over: `displayName`, and members of `metadata`.
    filled          jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (application_id, id),
    FOREIGN KEY (application_id, survivor) REFERENCES accounts ON DELETE CASCADE,
    FOREIGN KEY (application_id, absorbed) REFERENCES accounts ON DELETE CASCADE,
    CHECK (survivor <> absorbed)
);
CREATE INDEX merges_of_survivor ON merges (application_id, survivor);
-- An account is absorbed once, until that is undone.
CREATE UNIQUE INDEX merges_of_absorbed ON merges (application_id, absorbed) WHERE undone_at IS NULL;

-- Tokens of a service that are to be given back: the identity they belonged to is gone. Sealed where they were kept, as
-- provider_tokens of that identity.
CREATE TABLE token_revocations (
    application_id int NOT NULL,
    identity_id    uuid NOT NULL,
    provider       text COLLATE "C" NOT NULL,
    uid            uuid NOT NULL,
    sealed         bytea,
    created_at     timestamptz NOT NULL DEFAULT now(),
    due_at         timestamptz NOT NULL DEFAULT now(),
    attempts       int NOT NULL DEFAULT 0,
    revoked_at     timestamptz,
    failed_at      timestamptz,
    PRIMARY KEY (application_id, identity_id, created_at),
    CHECK (revoked_at IS NULL OR sealed IS NULL)
);
CREATE INDEX token_revocations_due ON token_revocations (due_at) WHERE revoked_at IS NULL AND failed_at IS NULL;
CREATE INDEX token_revocations_of_account ON token_revocations (application_id, uid);
-- Who proves an address ends what others had begun with it.
CREATE INDEX proofs_changes_to ON proofs (application_id, address) WHERE kind = 'address-change';
