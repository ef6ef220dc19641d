public import Foundation

/// A provider on whose pages people sign in before they return (RFC 6749, 4.1).
public protocol RedirectProvider: Provider {
    /// The URL that the person's browser opens.
    /// - Throws: `ProviderError.unavailable` if the URL must be discovered and the service does not answer.
    func authorizationURL(for flow: RedirectFlow) async throws -> String

    /// Exchanges the parameters of a callback for evidence.
    ///
    /// The server has checked the state, and handles errors that the provider reports in the callback itself.
    /// - Throws: `ProviderError`.
    func complete(_ callback: RedirectCallback, of flow: RedirectFlow) async throws -> VerifiedIdentity
}

/// One sign-in on a provider's pages.
public struct RedirectFlow: Sendable, Equatable {
    /// Made by the server, independent of the app's state; the provider returns it unchanged.
    public let state: String
    /// Binds the ID token to this flow.
    public let nonce: String
    /// The server's proof key towards the provider (RFC 7636), independent of the app's.
    public let codeVerifier: String
    /// Where the provider sends the browser back to.
    public let callbackURL: String
    /// The person must authenticate again, even if the provider has a session for them.
    public let requiresFreshLogin: Bool
    /// When the person was sent to the provider; `nil` while the authorization URL is made.
    ///
    /// A provider whose service never states when a person signed in may return it as
    /// `VerifiedIdentity.authenticatedAt`.
    public let beganAt: Date?

    /// The `S256` challenge for the verifier.
    public var codeChallenge: String { CodeChallenge.s256(of: codeVerifier) }

    /// Creates a flow; the server does so, and tests of a provider do.
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

/// The parameters that a browser brought back in a query or a form.
public struct RedirectCallback: Sendable, Equatable {
    /// The values by name; repeated names are refused before.
    public let parameters: [String: String]

    /// Creates a callback from its parameters.
    public init(parameters: [String: String]) {
        self.parameters = parameters
    }

    /// The value of a parameter.
    public subscript(name: String) -> String? { parameters[name] }
}
