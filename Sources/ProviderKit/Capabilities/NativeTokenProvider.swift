/// A provider whose own SDK gives an app an ID token, to be presented at `POST /auth/oauth/{provider}/token`.
public protocol NativeTokenProvider: Provider {
    /// Checks the token.
    /// - Throws: `ProviderError`.
    func verify(_ token: NativeToken) async throws -> VerifiedIdentity
}

/// What an SDK gave an app.
public struct NativeToken: Decodable, Sendable, Equatable {
    /// Signed by the provider.
    public let idToken: String
    /// The raw value, where the app asked for a token with a nonce.
    public let nonce: String?
    /// For what the ID token leaves out.
    public let accessToken: String?

    /// A token as an app presents it.
    public init(idToken: String, nonce: String? = nil, accessToken: String? = nil) {
        self.idToken = idToken
        self.nonce = nonce
        self.accessToken = accessToken
    }
}
