// Tokens: everything that is signed, encrypted or derived with a key.
//
// At start the configured `MasterKeys` decrypt the `RootKey`, whose only copy is in the database. Two kinds of keys are
// derived from it: those of `DerivedTokens` (refresh tokens, their successors, pseudonyms), and that of the `Sealer`,
// which encrypts signing keys and tokens of providers in the database. The `KeyRing` loads each application's signing
// keys, generates the first one, and publishes them as a JWK Set. `AccessTokenCodec` signs with the newest key, and
// verifies tokens whose header equals that of a published key byte for byte. It caches verified signatures, but checks
// issuer, audience and times at each use. Callers check whether the session is still open.
//
// `Upstream/` verifies tokens of other issuers (Apple, OpenID Connect issuers, custom tokens) for providers.
