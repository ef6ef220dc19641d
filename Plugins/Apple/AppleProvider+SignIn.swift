public import ProviderKit

extension AppleProvider: DirectProvider, NativeTokenProvider {
    /// What Apple's SDK gives an app.
    public struct Credential: Decodable, Sendable {
        /// A name, which Apple gives at the first sign-in only.
        public struct FullName: Decodable, Sendable {
            /// As in `John`.
            public let givenName: String?
            /// As in `Doe`.
            public let familyName: String?
        }

        /// Signed by Apple; the whole proof.
        public let identityToken: String
        /// For a refresh token.
        public let authorizationCode: String?
        /// Only to greet the person by: nobody has signed it.
        public let fullName: FullName?
        /// Never looked at: nobody has signed it.
        public let email: String?
        /// The raw value, where the app asked for a token with a nonce.
        public let nonce: String?
    }

    /// Checks what an app got from Apple's SDK.
    public func verify(_ credential: Credential, from origin: RequestOrigin) async throws -> VerifiedIdentity {
        let claims = try await claims(of: credential.identityToken)
        try nonce.check(claim: claims["nonce"], presented: credential.nonce)
        var identity = try identity(from: claims)
        identity.displayName = PersonName.joined(credential.fullName?.givenName, credential.fullName?.familyName)
        if let code = credential.authorizationCode, !code.isEmpty {
            identity.tokens = await refreshToken(for: code, of: claims)
        }
        return identity
    }

    /// The same for a bare identity token.
    public func verify(_ token: NativeToken) async throws -> VerifiedIdentity {
        let claims = try await claims(of: token.idToken)
        try nonce.check(claim: claims["nonce"], presented: token.nonce)
        return try identity(from: claims)
    }

    /// The person that a token is about; whoever presents it must have been checked.
    func identity(from claims: TokenClaims) throws -> VerifiedIdentity {
        guard let subject = claims.subject, subject.utf8.count <= 255 else { throw ProviderError.refused }
        var identity = VerifiedIdentity(
            providerUid: subject, profile: JSONValue.object(claims.all).claims(exposedClaims), methods: ["fed"],
            authenticatedAt: claims.provenAt, singleUse: claims.singleUse(by: "nonce"))
        identity.singleReauthentication = identity.singleUse == nil ? claims.singleUse : nil
        if let email = claims["email"].string {
            // Apple has had the person confirm the address, or made it itself.
            let isVerified = claims["email_verified"].isTrueToApple
            identity.addresses = [
                AddressClaim(email: email, isVerified: isVerified, isAuthoritative: isVerified)
            ].compactMap(\.self)
        }
        if claims["is_private_email"].isTrueToApple { identity.profile["isPrivateEmail"] = true }
        return identity
    }

    /// The refresh token that Apple gives for the code; `nil` if it gives none, or one of another person.
    ///
    /// The identity token has already proved the person. A failure here refuses no sign-in: Apple may be down, or the
    /// client may have lost our answer and presented a used code again.
    private func refreshToken(for code: String, of claims: TokenClaims) async -> ProviderTokens? {
        guard service.hasKey, let clientID = claims.audiences.first(where: { clientIDs.containsBytes(of: $0) }),
            let answer = try? await service.exchange(code, clientID: clientID),
            let refreshToken = answer["refresh_token"].string, !refreshToken.isEmpty
        else { return nil }
        if let idToken = answer["id_token"].string {
            // A stolen code must not bring another person's token here.
            guard let owner = try? await self.claims(of: idToken).subject,
                claims.subject?.hasSameBytes(as: owner) == true
            else { return nil }
        }
        return ProviderTokens(refreshToken: refreshToken, clientID: clientID)
    }
}

extension JSONValue {
    /// Apple writes truth as `true` or as the text `"true"`.
    var isTrueToApple: Bool { self == true || self == "true" }
}
