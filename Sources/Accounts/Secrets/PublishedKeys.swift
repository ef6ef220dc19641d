/// The public keys for verifying an application's access tokens.
package protocol PublishedKeys: Sendable {
    /// Returns the JWK Set document (RFC 7517, 5).
    ///
    /// It contains a retired key until the last token that the key signed has expired.
    func keySet(of application: Application) async throws -> [UInt8]
}
