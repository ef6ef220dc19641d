-- An OpenID provider: other apps, the clients, sign people in with an application of this server.

-- Keys of ID tokens and logout tokens. They have a table of their own, because the previous version reads each row of
-- signing_keys as a key of access tokens.
CREATE TABLE identity_keys (
    application_id     int NOT NULL REFERENCES applications,
    kid                text COLLATE "C" NOT NULL,
    algorithm          text NOT NULL,
    bits               int NOT NULL,
    sealed_private_key bytea NOT NULL,
    created_at         timestamptz NOT NULL DEFAULT now(),
    retired_at         timestamptz,
    published_until    timestamptz,
    PRIMARY KEY (application_id, kid),
    CONSTRAINT identity_keys_algorithm CHECK (algorithm IN ('RS256', 'ES256', 'EdDSA')),
    CONSTRAINT identity_keys_retired CHECK ((retired_at IS NULL) = (published_until IS NULL))
);
CREATE UNIQUE INDEX identity_keys_one_signs ON identity_keys (application_id) WHERE retired_at IS NULL;

ALTER TABLE sessions
    -- api: an app that uses the REST interface; browser: single sign-on; client: a client in one browser session.
    ADD COLUMN kind text NOT NULL DEFAULT 'api',
    -- The browser session of a client session, with which it ends unless it outlives that.
    ADD COLUMN parent_id uuid,
    ADD COLUMN outlives_parent boolean NOT NULL DEFAULT false,
    -- The client and the issuer of a client session; its tokens are nothing at others.
    ADD COLUMN client_id text COLLATE "C",
    ADD COLUMN issuer text COLLATE "C",
    -- SHA-256 of the cookie that a browser shows for its sessions.
    ADD COLUMN browser_hash bytea,
    -- How long a browser session may stay unused; null if it lasts until expires_at.
    ADD COLUMN idle interval,
    ADD COLUMN last_used_at timestamptz;
-- NOT VALID saves the scan of the table, whose sessions are all of the kind api so far.
ALTER TABLE sessions ADD CONSTRAINT sessions_kind CHECK (
    kind IN ('api', 'browser', 'client')
    AND (kind = 'client') = (client_id IS NOT NULL) AND (kind = 'client') = (issuer IS NOT NULL)
    AND (kind = 'client' OR parent_id IS NULL) AND (kind = 'browser' OR browser_hash IS NULL)) NOT VALID;
CREATE INDEX sessions_of_browser ON sessions (application_id, browser_hash) WHERE browser_hash IS NOT NULL;
CREATE UNIQUE INDEX sessions_of_parent ON sessions (application_id, parent_id, client_id, issuer)
    WHERE parent_id IS NOT NULL AND ended_at IS NULL;

-- What a client's token is for; null for tokens of the REST interface.
ALTER TABLE refresh_tokens
    ADD COLUMN scopes text[],
    ADD COLUMN resources text[],
    -- The claims that userinfo returns besides those of the scopes.
    ADD COLUMN claims text[],
    -- The claims that ID tokens have besides those of the scopes.
    ADD COLUMN token_claims text[],
    ADD COLUMN issuer text COLLATE "C";

CREATE TABLE authorization_codes (
    application_id int NOT NULL,
    hash           bytea NOT NULL,
    client_id      text COLLATE "C" NOT NULL,
    redirect_uri   text NOT NULL,
    code_challenge text,
    nonce          text,
    issuer         text COLLATE "C" NOT NULL,
    scopes         text[] NOT NULL,
    resources      text[] NOT NULL,
    -- The claims that userinfo and the ID token have besides those of the scopes.
    claims         text[] NOT NULL,
    token_claims   text[] NOT NULL,
    uid            uuid NOT NULL,
    -- The browser session that the code was issued to.
    session_id     uuid NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz NOT NULL,
    redeemed_at    timestamptz,
    -- The session of the client that the code has opened or moved; null if the redemption was refused.
    client_session uuid,
    PRIMARY KEY (application_id, hash),
    FOREIGN KEY (application_id, uid) REFERENCES accounts ON DELETE CASCADE,
    CONSTRAINT authorization_codes_hash CHECK (octet_length(hash) = 32)
);
CREATE INDEX authorization_codes_of_account ON authorization_codes (application_id, uid);
CREATE INDEX authorization_codes_expiring ON authorization_codes (application_id, expires_at);

-- What an account has allowed a client; only third-party clients need it.
CREATE TABLE consents (
    application_id int NOT NULL,
    uid            uuid NOT NULL,
    client_id      text COLLATE "C" NOT NULL,
    scopes         text[] NOT NULL,
    resources      text[] NOT NULL,
    granted_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (application_id, uid, client_id),
    FOREIGN KEY (application_id, uid) REFERENCES accounts ON DELETE CASCADE
);

-- Authorization requests that need a page, or that a client has pushed.
CREATE TABLE authorization_requests (
    application_id int NOT NULL,
    hash           bytea NOT NULL,
    client_id      text COLLATE "C" NOT NULL,
    issuer         text COLLATE "C" NOT NULL,
    -- The checked parameters, and what has happened in the request's pages.
    sealed         bytea NOT NULL,
    -- SHA-256 of the flow cookie of the browser that has the request; null until one brings a pushed request.
    browser_hash   bytea,
    created_at     timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz NOT NULL,
    PRIMARY KEY (application_id, hash),
    CONSTRAINT authorization_requests_hash CHECK (octet_length(hash) = 32)
);
CREATE INDEX authorization_requests_of_browser ON authorization_requests (application_id, browser_hash)
    WHERE browser_hash IS NOT NULL;
CREATE INDEX authorization_requests_expiring ON authorization_requests (application_id, expires_at);
