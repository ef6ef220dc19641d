/// The public keys for verifying an application's access tokens.
package protocol PublishedKeys: Sendable {
    /// The JWK Set document (RFC 7517, 5). Retired keys stay in it until the last token that they signed has expired.
    func keySet(of application: Application) async throws -> [UInt8]
}
