internal import Foundation

extension GatehouseClient {
    /// The result of a sign-in.
    public struct SignedIn: Sendable {
        /// The new session.
        public let session: Session
        /// Whether the sign-in has created the account.
        public let isNewAccount: Bool
        /// Whether an administrator requires a new password.
        public let shouldChangePassword: Bool
    }

    /// A way to sign in that the application offers.
    public struct Provider: Sendable, Hashable, Codable {
        /// What the app must do to sign a person in with a provider.
        public struct Flow: RawRepresentable, Sendable, Hashable, Codable {
            /// The flow as the server sends it.
            public let rawValue: String
            /// Creates a flow from the server's string.
            public init(rawValue: String) { self.rawValue = rawValue }
            /// The app sends a credential in one call.
            public static let direct = Self(rawValue: "direct")
            /// The app requests a code with `sendCode` and sends back the code that the person enters.
            public static let challenge = Self(rawValue: "challenge")
            /// The person signs in on a page in a browser; see `beginRedirect`.
            public static let redirect = Self(rawValue: "redirect")
        }

        /// The name in the server's configuration.
        public let name: String
        /// The kind, such as `oidc`.
        public let kind: String
        /// The name to show.
        public let displayName: String
        /// What the app must do to sign a person in.
        public let flow: Flow
    }

    /// Lists the ways to sign in that the application offers.
    /// - Returns: The providers, for a page that shows a button for each.
    /// - Throws: `refused` with `UNKNOWN_APPLICATION`, or another failure.
    public func providers() async throws(GatehouseError) -> [Provider] {
        struct List: Decodable { let providers: [Provider] }
        return try await value(of: .get("auth", "providers", access: .open), as: List.self).providers
    }

    /// Signs in; the new session replaces the present one.
    /// - Parameters:
    ///   - proof: A credential that proves who the person is.
    ///   - ticket: The ticket of a refusal with `SECOND_PROOF_REQUIRED`, if this is the second proof.
    ///   - remember: `false` keeps the session in memory only, and requests a short session from the server.
    /// - Returns: The new session.
    /// - Throws: `refused` if the server refuses the proof or the account, or another failure; the present session
    ///   is then unchanged.
    @discardableResult
    public func signIn(
        _ proof: Proof, ticket: Secret? = nil, remember: Bool = true
    ) async throws(GatehouseError) -> SignedIn {
        let remember = remember && proof.isRemembered
        var body = proof.body
        if proof.namesProvider { body["provider"] = .string(proof.provider) }
        body["ticket"] = ticket.map { .string($0.value) }
        if !remember { body["remember"] = false }
        let call = Call(
            method: "POST", path: proof.signInPath, body: body, access: proof.isBound ? .bearer : .open)
        return try await taken(answer(to: call), isRemembered: remember, appleUser: proof.appleUser)
    }

    /// Sends a call whose answer has a session, and keeps that session.
    func opened(by call: Call, isRemembered: Bool) async throws(GatehouseError) -> SignedIn {
        try await taken(answer(to: call), isRemembered: isRemembered)
    }

    /// Sends a call that opens another session of the same person; it is short if the present one is short.
    /// - Returns: The answer, and the number of the sign-in that it continues.
    func reopened(by call: Call) async throws(GatehouseError) -> (answer: Answer, signIn: Int) {
        let signIn = try await keeper.currentSignIn()
        let isShort = await !keeper.isRemembered
        return (try await answer(to: call.changed { if isShort { $0.body?["remember"] = false } }), signIn)
    }

    func taken(
        _ answer: Answer, isRemembered: Bool? = nil, continuing former: Int? = nil, appleUser: String? = nil
    ) async throws(GatehouseError) -> SignedIn {
        let opened = try answer.decoded(as: SessionResponse.self)
        let pair = TokenPair(
            accessToken: opened.accessToken, expiresIn: opened.expiresIn, refreshToken: opened.refreshToken)
        try await keeper.adopt(
            opened, access: AccessToken(pair, askedAt: answer.askedAt), isRemembered: isRemembered, continuing: former,
            appleUser: appleUser)
        return SignedIn(
            session: Session(user: opened.user, auth: opened.auth), isNewAccount: opened.isNewAccount ?? false,
            shouldChangePassword: opened.shouldChangePassword ?? false)
    }
}

/// The answer to every sign-in.
struct SessionResponse: Decodable, Sendable {
    let accessToken: GatehouseClient.Secret
    let expiresIn: Double
    let refreshToken: GatehouseClient.Secret
    let isNewAccount, shouldChangePassword: Bool?
    let user: GatehouseClient.User
    let auth: GatehouseClient.Auth
}
