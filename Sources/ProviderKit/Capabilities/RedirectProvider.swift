public import Foundation

/// A provider that people go to and come back from (RFC 6749, 4.1).
public protocol RedirectProvider: Provider {
    /// Where the person's browser goes.
    /// - Throws: `ProviderError.unavailable` where that must be asked for first and nobody answers.
    func authorizationURL(for flow: RedirectFlow) async throws -> String

    /// Exchanges what the browser brought back for evidence.
    ///
    /// The state is checked beforehand, and an error of the provider's own never comes here.
    /// - Throws: `ProviderError`.
    func complete(_ callback: RedirectCallback, of flow: RedirectFlow) async throws -> VerifiedIdentity
}

/// One way to a provider and back.
public struct RedirectFlow: Sendable, Equatable {
    /// Ours, never the app's; it comes back unchanged.
    public let state: String
    /// For the ID token of this flow alone.
    public let nonce: String
    /// Our own proof key towards the provider (RFC 7636); the app has another.
    public let codeVerifier: String
    /// Where the provider sends the browser to.
    public let callbackURL: String
    /// The person must prove who they are again, whatever session the provider has.
    public let requiresFreshLogin: Bool
    /// When the person was sent to the provider; `nil` on the way there.
    ///
    /// A service that never says when a person signed in there may give it as `VerifiedIdentity.authenticatedAt`.
    public let beganAt: Date?

    /// `code_challenge` of the verifier, by `S256`.
    public var codeChallenge: String { CodeChallenge.s256(of: codeVerifier) }

    /// Made by the server, and by tests of a provider.
    public init(
        state: String, nonce: String, codeVerifier: String, callbackURL: String, requiresFreshLogin: Bool = false,
        beganAt: Date? = nil
    ) {
        self.state = state
        self.nonce = nonce
        self.codeVerifier = codeVerifier
        self.callbackURL = callbackURL
        self.requiresFreshLogin = requiresFreshLogin
        self.beganAt = beganAt
    }
}

/// What a browser brought back, by query or by form.
public struct RedirectCallback: Sendable, Equatable {
    /// Each name once.
    public let parameters: [String: String]

    /// Parameters as they arrived.
    public init(parameters: [String: String]) {
        self.parameters = parameters
    }

    /// The parameter of that name.
    public subscript(name: String) -> String? { parameters[name] }
}
