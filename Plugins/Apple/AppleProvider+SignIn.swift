public import ProviderKit

extension AppleProvider: DirectProvider, NativeTokenProvider {
    /// The result of Apple's SDK.
    public struct Credential: RequestPayload {
        /// A name, which Apple states at the first sign-in only.
        public struct FullName: RequestPayload {
            /// As in `John`.
            public let givenName: String?
            /// As in `Doe`.
            public let familyName: String?

            /// Both names.
            public static let fields = RequestFields(Self.init, .init("givenName"), .init("familyName"))
        }

        /// The identity token, which is signed by Apple and is the complete proof.
        public let identityToken: String
        /// The authorization code, exchanged for a refresh token if present.
        public let authorizationCode: String?
        /// The person's name, which is not signed.
        public let fullName: FullName?
        /// The e-mail address, ignored because it is not signed.
        public let email: String?
        /// The raw nonce, if the app requested a token with one.
        public let nonce: String?

        /// The fields of the body, under the names of Apple's SDK.
        public static let fields = RequestFields(
            Self.init, .init("identityToken"), .init("authorizationCode"), .init("fullName"), .init("email"),
            .init("nonce"))
    }

    /// Verifies the result of Apple's SDK.
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

    /// Verifies an identity token alone.
    public func verify(_ token: NativeToken) async throws -> VerifiedIdentity {
        let claims = try await claims(of: token.idToken)
        try nonce.check(claim: claims["nonce"], presented: token.nonce)
        return try identity(from: claims)
    }

    /// The evidence in a verified token; callers check the nonce.
    func identity(from claims: TokenClaims) throws -> VerifiedIdentity {
        guard let subject = claims.subject, subject.utf8.count <= 255 else { throw ProviderError.refused }
        // A token with a nonce may be presented once.
        let hasNonce = !claims["nonce"].isNull
        var identity = VerifiedIdentity(
            providerUid: subject, profile: JSONValue.object(claims.all).claims(exposedClaims), methods: ["fed"],
            authenticatedAt: claims.provenAt, singleUse: hasNonce ? claims.singleUse : nil)
        identity.singleReauthentication = hasNonce ? nil : claims.singleUse
        if let email = claims["email"].string {
            // Apple verifies each address or generates it as a relay address.
            let isVerified = claims["email_verified"].isTrueToApple
            identity.addresses = [AddressClaim(email: email, isVerified: isVerified, isAuthoritative: isVerified)]
                .compactMap(\.self)
        }
        if claims["is_private_email"].isTrueToApple { identity.profile["isPrivateEmail"] = true }
        return identity
    }

    /// Exchanges the code for a refresh token; `nil` on any failure, or if the token belongs to another person.
    ///
    /// A failure does not refuse the sign-in, because the identity token is the proof. The exchange fails if Apple is
    /// down, or if a client that lost the response sends a used code again.
    private func refreshToken(for code: String, of claims: TokenClaims) async -> ProviderTokens? {
        guard service.hasKey, let clientID = claims.audiences.first(where: { clientIDs.containsBytes(of: $0) }),
            let answer = try? await service.exchange(code, clientID: clientID),
            let refreshToken = answer["refresh_token"].string, !refreshToken.isEmpty
        else { return nil }
        if let idToken = answer["id_token"].string {
            // A stolen code must not add another person's token to the evidence.
            guard let owner = try? await self.claims(of: idToken).subject,
                claims.subject?.hasSameBytes(as: owner) == true
            else { return nil }
        }
        return ProviderTokens(refreshToken: refreshToken, clientID: clientID)
    }
}

extension JSONValue {
    /// Whether the value is `true` or the string `"true"`; Apple sends both.
    var isTrueToApple: Bool { self == true || self == "true" }
}
