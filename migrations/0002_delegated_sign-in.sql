-- Sign-in by somebody else's proof: flows by redirect, proofs that work once, and tokens that a service gave us.

ALTER TABLE identities
    ADD COLUMN phone text COLLATE "C",
    ADD COLUMN phone_verified boolean NOT NULL DEFAULT false,
    ADD CHECK (phone IS NOT NULL OR NOT phone_verified);

-- Claims that are evicted when somebody proves the address.
CREATE INDEX identities_unproven ON identities (application_id, email) WHERE email IS NOT NULL AND NOT email_verified;
CREATE INDEX identities_unproven_phone ON identities (application_id, phone) WHERE phone IS NOT NULL AND NOT phone_verified;

-- The person has switched off mail to it (Apple's private relay): it stays theirs, but nothing is sent there.
ALTER TABLE addresses ADD COLUMN is_silent boolean NOT NULL DEFAULT false;

-- Proofs of others that must not be presented twice, by SHA-256 of what tells them apart.
CREATE TABLE used_proofs (
    application_id int NOT NULL,
    provider       text COLLATE "C" NOT NULL,
    hash           bytea NOT NULL CHECK (octet_length(hash) = 32),
    expires_at     timestamptz NOT NULL,
    PRIMARY KEY (application_id, provider, hash)
);
CREATE INDEX used_proofs_expiring ON used_proofs (expires_at);

-- What a service gave us to act for a person, sealed; kept to be revoked.
CREATE TABLE provider_tokens (
    application_id int NOT NULL,
    identity_id    uuid NOT NULL,
    sealed         bytea NOT NULL,
    updated_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (application_id, identity_id),
    FOREIGN KEY (application_id, identity_id) REFERENCES identities ON DELETE CASCADE
);

-- One way to a provider and back, and the one-time code that it ends with. The state, the browser's cookie and the
-- code are kept by SHA-256; the nonce and the proof key derive from the state.
CREATE TABLE redirect_flows (
    application_id int NOT NULL,
    state_hash     bytea NOT NULL CHECK (octet_length(state_hash) = 32),
    provider       text COLLATE "C" NOT NULL,
    redirect_uri   text COLLATE "C" NOT NULL,
    app_state      text,
    -- The app's own proof key; none only where the redirect URI is registered without.
    code_challenge text COLLATE "C",
    -- Null where the app itself drives the browser.
    browser_hash   bytea CHECK (octet_length(browser_hash) = 32),
    created_at     timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz NOT NULL,
    -- The provider's answer arrived: from then on the state is used up.
    answered_at    timestamptz,
    sealed_evidence bytea,
    code_hash      bytea CHECK (octet_length(code_hash) = 32),
    -- The code was presented, rightly or not: from then on it is used up.
    redeemed_at    timestamptz,
    -- The session that it opened, which a later replay of the code ends.
    session_id     uuid,
    PRIMARY KEY (application_id, state_hash),
    UNIQUE (application_id, code_hash),
    CHECK ((code_hash IS NULL) = (sealed_evidence IS NULL) OR redeemed_at IS NOT NULL),
    CHECK (answered_at IS NOT NULL OR code_hash IS NULL)
);
CREATE INDEX redirect_flows_expiring ON redirect_flows (expires_at);
