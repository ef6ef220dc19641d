extension GatehouseClient {
    /// What somebody proves who they are with.
    ///
    /// The same proof signs in, links an identity to the account that is signed in, or re-authenticates it.
    public struct Proof: Sendable {
        /// The path of the sign-in below `/api/v1`.
        let signInPath: [String]
        /// The provider, for linking and re-authentication.
        let provider: String
        /// Whether a sign-in names the provider in its body, which only several providers of a kind need.
        let namesProvider: Bool
        let body: [String: JSON]
        /// Whether a sign-in presents the bearer, because the code was requested with it.
        var isBound = false
        /// Whether the session of a sign-in is stored and long, as far as the proof decides that.
        var isRemembered = true
        /// Apple's id of the person, if Sign in with Apple on this device gave the proof.
        var appleUser: String?

        private init(_ path: [String], provider: String, names: Bool, _ body: [String: JSON?]) {
            (signInPath, self.provider, namesProvider) = (path, provider, names)
            self.body = body.compactMapValues { $0 }
        }
    }
}

extension GatehouseClient.Proof: CustomStringConvertible, CustomReflectable {
    /// The provider's name.
    public var description: String { "a proof of \(provider)" }
    /// A mirror without the credential.
    public var customMirror: Mirror { Mirror(self, children: ["provider": provider]) }
}

extension GatehouseClient.Proof {
    /// A new guest; it can only sign in.
    public static var anonymous: Self { Self(["auth", "anonymous"], provider: "anonymous", names: false, [:]) }

    /// An e-mail address and its password.
    /// - Parameters:
    ///   - email: The address.
    ///   - password: The password.
    ///   - provider: The provider's name, for linking and re-authentication.
    /// - Returns: The proof.
    public static func password(email: String, password: String, provider: String = "email") -> Self {
        Self(
            ["auth", "login"], provider: provider, names: false,
            ["email": .string(email), "password": .string(password)])
    }

    /// The code that was sent to an address or a phone number.
    /// - Parameters:
    ///   - code: What the person has read there.
    ///   - sent: What `sendCode` returned.
    /// - Returns: The proof, which allows five attempts.
    public static func code(_ code: String, of sent: GatehouseClient.SentCode) -> Self {
        var proof = Self(
            ["auth", sent.kind, "otp", "verify"], provider: sent.provider ?? sent.kind, names: sent.provider != nil,
            ["challengeId": .string(sent.challengeId), "code": .string(code)])
        proof.isBound = sent.isBound
        return proof
    }

    /// What Sign in with Apple gave the app.
    /// - Parameters:
    ///   - identityToken: The identity token, a JWT.
    ///   - authorizationCode: With it the server can revoke Apple's grant when the account is erased.
    ///   - givenName: The given name, which Apple tells at the first sign-in only.
    ///   - familyName: The family name, likewise.
    ///   - email: The address, likewise; the server trusts only that in the token.
    ///   - nonce: The raw value, of which Apple got the SHA-256; see `AppleNonce`.
    ///   - provider: The provider's name, if several of the kind are configured.
    /// - Returns: The proof, which works once.
    public static func apple(
        identityToken: String, authorizationCode: String? = nil, givenName: String? = nil, familyName: String? = nil,
        email: String? = nil, nonce: String? = nil, provider: String? = nil
    ) -> Self {
        let name = ["givenName": givenName, "familyName": familyName].compactMapValues { $0 }
        return Self(
            ["auth", "apple"], provider: provider ?? "apple", names: provider != nil,
            [
                "identityToken": .string(identityToken), "authorizationCode": authorizationCode.map { .string($0) },
                "fullName": name.isEmpty ? nil : .object(name.mapValues { .string($0) }),
                "email": email.map { .string($0) }, "nonce": nonce.map { .string($0) },
            ])
    }

    /// A token that the app's own server has signed.
    /// - Parameters:
    ///   - token: The token, a JWT.
    ///   - provider: The provider's name, if several of the kind are configured.
    /// - Returns: The proof, which works once.
    public static func customToken(_ token: String, provider: String? = nil) -> Self {
        Self(["auth", "custom"], provider: provider ?? "custom", names: provider != nil, ["token": .string(token)])
    }

    /// The assertion of a mobile network; without one, a gateway of the network states the number.
    /// - Parameters:
    ///   - assertion: The operator's signed assertion, a JWT.
    ///   - provider: The provider's name, if several of the kind are configured.
    /// - Returns: The proof.
    public static func mobileNetwork(assertion: String? = nil, provider: String? = nil) -> Self {
        Self(
            ["auth", "mobile-network"], provider: provider ?? "mobile-network", names: provider != nil,
            ["assertion": assertion.map { .string($0) }])
    }

    /// The ID token that a provider's own SDK gave the app.
    /// - Parameters:
    ///   - idToken: The ID token, a JWT (OpenID Connect Core, 2).
    ///   - provider: The provider's name.
    ///   - nonce: The raw value; the token contains it or its SHA-256.
    ///   - accessToken: The access token of the same answer, where the provider needs it.
    /// - Returns: The proof.
    public static func idToken(
        _ idToken: String, provider: String, nonce: String? = nil, accessToken: String? = nil
    ) -> Self {
        Self(
            ["auth", "oauth", provider, "token"], provider: provider, names: false,
            [
                "idToken": .string(idToken), "nonce": nonce.map { .string($0) },
                "accessToken": accessToken.map { .string($0) },
            ])
    }

    /// The code with which a browser came back; see `RedirectFlow.proof(from:)`.
    static func redirect(code: String, flow: GatehouseClient.RedirectFlow) -> Self {
        var proof = Self(
            ["auth", "token"], provider: flow.provider, names: false,
            [
                "code": .string(code), "state": .string(flow.state), "redirect_uri": .string(flow.redirectURI),
                "codeVerifier": .string(flow.verifier.value),
            ])
        proof.isRemembered = flow.isRemembered
        return proof
    }

    /// A proof of a provider that this library does not know.
    /// - Parameters:
    ///   - path: The segments of the sign-in's path below the API: `["auth", "acme"]`.
    ///   - provider: The provider's name.
    ///   - body: The body of the sign-in.
    /// - Returns: The proof.
    public static func other(path: [String], provider: String, body: [String: GatehouseClient.JSON]) -> Self {
        Self(path, provider: provider, names: false, body)
    }
}
