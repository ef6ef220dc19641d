// Tokens: everything that is signed, sealed or derived from a key.
//
// At start the configuration's `MasterKeys` open the `RootKey`, whose one copy stands wrapped in the database. From it
// derive a key for `DerivedTokens` (refresh tokens, their successors, pseudonyms) and one for the `Sealer`, which keeps
// signing keys and provider tokens unreadable in the database. The `KeyRing` loads each application's signing keys
// through it, makes the first, and publishes them as a JWK Set. `AccessTokenCodec` signs with the ring's newest key,
// and believes a token whose header is byte for byte that of a published key, whose signature is right, and whose
// issuer, audience and times fit; it remembers the signature, never the verdict. Whether the session still lives is
// asked by whoever calls it.
//
// Measured per second on one thread, in thousands (2 vCPU, AMD EPYC; a token of 750 to 1180 bytes):
//
//                raw sign   sign   raw verify   verify   verified before
//   RS256 2048      1.1      1.1       38          18          400
//   RS256 3072      0.4      0.4       18          12          350
//   ES256            30       22       12           8          390
//   EdDSA            36       27        7           6          430
//
// "Raw" is swift-crypto alone. What verifying adds is mostly reading the claims with `JSONDecoder`; it is paid once
// for a token. Writing them by hand instead of with `JSONEncoder` raised ES256 from 16 to 22 and EdDSA from 17 to 27.
