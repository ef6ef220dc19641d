public import Foundation

extension GatehouseClient {
    /// What a proof is for.
    public enum Purpose: Sendable, Hashable {
        /// To sign in.
        case signIn
        /// To add an identity to the account that is signed in.
        case link
        /// To prove again who is signed in.
        case reauthenticate
    }

    /// A visit of a provider's page in a browser.
    public struct RedirectFlow: Sendable {
        /// The page to open.
        public let url: URL
        /// What the proof is for.
        public let purpose: Purpose
        /// The provider's name.
        public let provider: String
        /// Where the page sends the person back to.
        public let redirectURI: String
        /// Whether a sign-in is stored and long; see `beginRedirect`.
        public let isRemembered: Bool
        let state: String
        let verifier: Secret
    }

    /// Begins a visit of a provider's page.
    /// - Parameters:
    ///   - provider: The provider's name, or `hosted` for the application's own pages.
    ///   - redirectURI: One of the application's registered redirect URIs.
    ///   - purpose: What the proof is for; all but a sign-in need a session.
    ///   - parameters: What the page gets from the app, such as `login_hint`: names that the provider's setting
    ///     `forward` lists, with values of at most 256 bytes.
    ///   - remember: `false` keeps the session of a sign-in in memory only, and asks the server for a short one.
    /// - Returns: The flow, whose page the app opens in a browser.
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
    /// Reads the URL with which the browser came back.
    /// - Parameter url: The whole URL.
    /// - Returns: The proof for the flow's purpose, which is good for 60 seconds.
    /// - Throws: `refused` with the page's error, or with `INVALID_STATE` if the URL is not of this flow.
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
    /// The provider's name.
    public var description: String { "a redirect flow of \(provider)" }
    /// A mirror without the state and the verifier.
    public var customMirror: Mirror { Mirror(self, children: ["provider": provider]) }
}
