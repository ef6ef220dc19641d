/// A provider whose whole proof is in one request: a signed token, an assertion, or nothing at all.
public protocol DirectProvider: Provider {
    /// The body of `POST /auth/{kind}`; the route and its documentation are made from this type.
    associatedtype Credential: Decodable & Sendable

    /// Checks the credential. Network access happens here, before anything is locked.
    /// - Throws: `ProviderError`.
    func verify(_ credential: Credential) async throws -> VerifiedIdentity
}

/// The credential of a provider that asks for nothing.
public struct NoCredential: Decodable, Sendable {
    /// There is nothing to say.
    public init() {}
}
