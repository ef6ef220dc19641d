internal import Foundation

extension GatehouseClient {
    /// The result of a sign-in.
    public struct SignedIn: Sendable {
        /// Who is signed in now.
        public let session: Session
        /// Whether the sign-in has opened the account.
        public let isNewAccount: Bool
        /// Whether an administrator asks for a new password.
        public let shouldChangePassword: Bool
    }

    /// A way to sign in that the application offers.
    public struct Provider: Sendable, Hashable, Codable {
        /// What an app has to do.
        public struct Flow: RawRepresentable, Sendable, Hashable, Codable {
            /// The flow as the server writes it.
            public let rawValue: String
            /// Creates a flow.
            public init(rawValue: String) { self.rawValue = rawValue }
            /// One call with a credential.
            public static let direct = Self(rawValue: "direct")
            /// A code is sent, and answered.
            public static let challenge = Self(rawValue: "challenge")
            /// The person signs in on a page.
            public static let redirect = Self(rawValue: "redirect")
        }

        /// The configured name.
        public let name: String
        /// The kind, such as `oidc`.
        public let kind: String
        /// The name to show.
        public let displayName: String
        /// What an app has to do.
        public let flow: Flow
    }

    /// Lists the ways to sign in that the application offers.
    /// - Returns: The providers, for a page that shows a button for each.
    /// - Throws: `refused` with `UNKNOWN_APPLICATION`, or another failure.
    public func providers() async throws(GatehouseError) -> [Provider] {
        struct List: Decodable { let providers: [Provider] }
        return try await value(of: .get("auth", "providers", access: .open), as: List.self).providers
    }

    /// Signs in, in place of anybody who is signed in now.
    /// - Parameters:
    ///   - proof: What the person proves who they are with.
    ///   - ticket: The ticket of a `SECOND_PROOF_REQUIRED`, if this is the second proof.
    ///   - remember: `false` keeps the session in memory only, and asks the server for a short one.
    /// - Returns: Who is signed in now.
    /// - Throws: `refused` if the proof or the account is refused, or another failure; the session stays as it was.
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

    /// Sends a call that answers with a session, and takes the session over.
    func opened(by call: Call, isRemembered: Bool) async throws(GatehouseError) -> SignedIn {
        try await taken(answer(to: call), isRemembered: isRemembered)
    }

    /// Sends a call that opens another session for who is signed in, as short as the present one.
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
