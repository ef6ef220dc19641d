/// The public keys for verifying an application's access tokens.
package protocol PublishedKeys: Sendable {
    /// Returns the JWK Set document (RFC 7517, 5), with retired keys until their last token has expired.
    func keySet(of application: Application) async throws -> [UInt8]
}
