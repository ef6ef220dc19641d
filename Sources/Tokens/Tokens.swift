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
//
// Measured per second on one thread, in thousands (2 vCPU, AMD EPYC; a token of 750 to 1180 bytes):
//
//                raw sign   sign   raw verify   verify   verified before
//   RS256 2048      1.1      1.1       38          18          400
//   RS256 3072      0.4      0.4       18          12          350
//   ES256            30       22       12           8          390
//   EdDSA            36       27        7           6          430
//
// "Raw" is swift-crypto alone. Verification takes longer mostly because `JSONDecoder` decodes the claims, once for each
// token. Encoding claims without `JSONEncoder` raised ES256 from 16 to 22 and EdDSA from 17 to 27.
