/// The keys that others check an application's access tokens with.
package protocol PublishedKeys: Sendable {
    /// The JWK Set document (RFC 7517 section 5), encoded beforehand; retired keys stay in it until the last token that
    /// they signed has expired.
    func keySet(of application: Application) async throws -> [UInt8]
}
