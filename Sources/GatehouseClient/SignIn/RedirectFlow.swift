public import Foundation

extension GatehouseClient {
    /// The purpose of a proof.
    public enum Purpose: Sendable, Hashable {
        /// To sign in.
        case signIn
        /// To add an identity to the account that is signed in.
        case link
        /// To sign the same person in again, for calls that require a recent sign-in.
        case reauthenticate
    }

    /// A sign-in on a provider's page in a browser.
    public struct RedirectFlow: Sendable {
        /// The page to open.
        public let url: URL
        /// The purpose of the proof.
        public let purpose: Purpose
        /// The provider's name.
        public let provider: String
        /// The URI to which the page returns.
        public let redirectURI: String
        /// Whether the session of a sign-in is stored and long; see `beginRedirect`.
        public let isRemembered: Bool
        let state: String
        let verifier: Secret
    }

    /// Starts a sign-in on a provider's page.
    /// - Parameters:
    ///   - provider: The provider's name, or `hosted` for the application's own pages.
    ///   - redirectURI: One of the application's registered redirect URIs.
    ///   - purpose: The purpose of the proof; `.link` and `.reauthenticate` require a session.
    ///   - parameters: Parameters for the provider's page, such as `login_hint`. The provider's setting `forward` lists
    ///     the names that are allowed; values have at most 256 bytes.
    ///   - remember: `false` keeps the session of a sign-in in memory only, and requests a short one from the server.
    /// - Returns: The flow; the app opens its `url` in a browser.
    /// - Throws: `refused` for an unknown provider, redirect URI or parameter, or another failure.
    public func beginRedirect(
        to provider: String, redirectURI: String, for purpose: Purpose = .signIn, parameters: [String: String] = [:],
        remember: Bool = true
    ) async throws(GatehouseError) -> RedirectFlow {
        struct Begun: Decodable {
            let url: URL
            let state: String
        }
        let verifier = CodeVerifier.random()
        let (challenge, state) = (CodeVerifier.challenge(of: verifier), CodeVerifier.random())
        let body: [String: JSON?] = [
            "redirect_uri": .string(redirectURI), "code_challenge": .string(challenge),
            "code_challenge_method": "S256", "state": .string(state),
            "parameters": parameters.isEmpty ? nil : .object(parameters.mapValues { .string($0) }),
            "remember": remember ? nil : false,
        ]
        let call = Call.post(
            "auth", purpose == .link ? "identities" : "oauth", provider, "authorize", body: body,
            access: purpose == .signIn ? .open : .bearer
        ).changed { $0.repetition = .unlessLate }
        let begun = try await value(of: call, as: Begun.self)
        return RedirectFlow(
            url: begun.url, purpose: purpose, provider: provider, redirectURI: redirectURI, isRemembered: remember,
            state: begun.state, verifier: Secret(verifier))
    }
}

extension GatehouseClient.RedirectFlow {
    /// Reads the URL to which the browser returned.
    /// - Parameter url: The whole URL.
    /// - Returns: The proof for the flow's purpose. It works once and expires after 60 seconds.
    /// - Throws: `refused` with the page's error, or with `INVALID_STATE` if the URL does not belong to this flow.
    public func proof(from url: URL) throws(GatehouseError) -> GatehouseClient.Proof {
        let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        func value(_ name: String) -> String? { items.first { $0.name == name }?.value }
        guard url.absoluteString.hasPrefix(redirectURI), value("state") == state else {
            throw .refused(.init(code: .invalidState, message: "The URL does not end this flow"))
        }
        if let error = value("error") {
            let message = value("error_description") ?? "The page refused"
            throw .refused(.init(code: .init(rawValue: error), message: message))
        }
        guard let code = value("code") else {
            throw .refused(.init(code: .invalidState, message: "The URL has no code"))
        }
        return .redirect(code: code, flow: self)
    }
}

extension GatehouseClient.RedirectFlow: CustomStringConvertible, CustomReflectable {
    /// The kind of value and the provider's name, without secrets.
    public var description: String { "a redirect flow of \(provider)" }
    /// A mirror without the state and the verifier.
    public var customMirror: Mirror { Mirror(self, children: ["provider": provider]) }
}
