/// A provider with an SDK that returns an ID token to the app, for `POST /auth/oauth/{provider}/token`.
public protocol NativeTokenProvider: Provider {
    /// Verifies a token.
    /// - Throws: `ProviderError`.
    func verify(_ token: NativeToken) async throws -> VerifiedIdentity
}

/// The tokens that an app received from a provider's SDK.
public struct NativeToken: RequestPayload, Equatable {
    /// The ID token, signed by the provider.
    public let idToken: String
    /// The raw nonce, if the app requested a token with one.
    public let nonce: String?
    /// The access token for reading claims that the ID token lacks.
    public let accessToken: String?

    /// The fields of the body.
    public static let fields = RequestFields(
        { Self(idToken: $0, nonce: $1, accessToken: $2) }, .init("idToken"), .init("nonce"), .init("accessToken"))

    /// Creates a token as an app presents it.
    public init(idToken: String, nonce: String? = nil, accessToken: String? = nil) {
        (self.idToken, self.nonce, self.accessToken) = (idToken, nonce, accessToken)
    }
}
