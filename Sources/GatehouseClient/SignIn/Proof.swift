extension GatehouseClient {
    /// A credential that proves who the person is.
    ///
    /// Pass it to `signIn`, to `link` or to `reauthenticate`.
    public struct Proof: Sendable {
        /// The path of the sign-in below `/api/v1`.
        let signInPath: [String]
        /// The provider, for linking and re-authentication.
        let provider: String
        /// Whether a sign-in names the provider in its body, which is needed only if several of a kind are configured.
        let namesProvider: Bool
        let body: [String: JSON]
        /// Whether a sign-in sends the access token, because the code was requested with it.
        var isBound = false
        /// Whether the session of a sign-in may be stored and long; `false` overrides the sign-in's `remember`.
        var isRemembered = true
        /// Apple's id of the person, if the proof comes from Sign in with Apple on this device.
        var appleUser: String?

        private init(_ path: [String], provider: String, names: Bool, _ body: [String: JSON?]) {
            (signInPath, self.provider, namesProvider) = (path, provider, names)
            self.body = body.compactMapValues { $0 }
        }
    }
}

extension GatehouseClient.Proof: CustomStringConvertible, CustomReflectable {
    /// The kind of value and the provider's name, without the credential.
    public var description: String { "a proof of \(provider)" }
    /// A mirror without the credential.
    public var customMirror: Mirror { Mirror(self, children: ["provider": provider]) }
}

extension GatehouseClient.Proof {
    /// A new guest; only `signIn` accepts it.
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
    ///   - code: The code that the person entered.
    ///   - sent: The challenge from `sendCode`.
    /// - Returns: The proof; the server allows five attempts for each code that was sent.
    public static func code(_ code: String, of sent: GatehouseClient.SentCode) -> Self {
        var proof = Self(
            ["auth", sent.kind, "otp", "verify"], provider: sent.provider ?? sent.kind, names: sent.provider != nil,
            ["challengeId": .string(sent.challengeId), "code": .string(code)])
        proof.isBound = sent.isBound
        return proof
    }

    /// The result of Sign in with Apple.
    /// - Parameters:
    ///   - identityToken: The identity token, a JWT.
    ///   - authorizationCode: The code with which the server can revoke Apple's tokens when the account is erased.
    ///   - givenName: The given name; Apple sends it only at the first sign-in.
    ///   - familyName: The family name; Apple sends it only at the first sign-in.
    ///   - email: The address; Apple sends it only at the first sign-in. The server trusts only the one in the token.
    ///   - nonce: The raw value of the nonce, whose SHA-256 was in the request to Apple; see `AppleNonce`.
    ///   - provider: The provider's name, if several providers of this kind are configured.
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
    ///   - provider: The provider's name, if several providers of this kind are configured.
    /// - Returns: The proof, which works once.
    public static func customToken(_ token: String, provider: String? = nil) -> Self {
        Self(["auth", "custom"], provider: provider ?? "custom", names: provider != nil, ["token": .string(token)])
    }

    /// A phone number that the mobile network confirms, by an assertion or by a gateway that adds it to the call.
    /// - Parameters:
    ///   - assertion: The operator's signed assertion, a JWT; `nil` if a gateway adds the number.
    ///   - provider: The provider's name, if several providers of this kind are configured.
    /// - Returns: The proof.
    public static func mobileNetwork(assertion: String? = nil, provider: String? = nil) -> Self {
        Self(
            ["auth", "mobile-network"], provider: provider ?? "mobile-network", names: provider != nil,
            ["assertion": assertion.map { .string($0) }])
    }

    /// An ID token from a provider's own SDK.
    /// - Parameters:
    ///   - idToken: The ID token, a JWT (OpenID Connect Core, 2).
    ///   - provider: The provider's name.
    ///   - nonce: The raw value of the nonce; the token contains it or its SHA-256.
    ///   - accessToken: The access token from the same response, if the provider requires it.
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

    /// The code in the URL to which the browser returned; see `RedirectFlow.proof(from:)`.
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

    /// A proof for a provider that this library has no method for.
    /// - Parameters:
    ///   - path: The segments of the sign-in's path below the API's base URL, such as `["auth", "acme"]`.
    ///   - provider: The provider's name.
    ///   - body: The body of the sign-in.
    /// - Returns: The proof.
    public static func other(path: [String], provider: String, body: [String: GatehouseClient.JSON]) -> Self {
        Self(path, provider: provider, names: false, body)
    }
}
