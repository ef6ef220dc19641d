/// The kinds of JWT for OpenID clients; a token of one kind is never accepted as another.
package enum JWTKind: String, Sendable {
    /// An access token of a client (RFC 9068).
    case accessToken = "at+jwt"
    /// An ID token (OpenID Connect Core, 2).
    case identityToken = "JWT"
    /// A logout token (OpenID Connect Back-Channel Logout, 2.4).
    case logoutToken = "logout+jwt"
    /// A description of an app (RFC 7591, 2.3), which counts because the configuration lists it.
    case softwareStatement = "software-statement+jwt"

    /// The lifetime of ID tokens; a retired key stays published at least as long.
    package static let identityLifetime: Duration = .seconds(3600)

    /// The purpose of the key that signs tokens of this kind.
    package var purpose: SigningPurpose { self == .accessToken ? .accessTokens : .identityTokens }
}

/// Signs and verifies JWTs of OpenID clients with the keys of their application.
package protocol ApplicationJWTs: Sendable {
    /// Signs a JSON object, which may depend on the algorithm of the key.
    func sign(
        as kind: JWTKind, for application: Application, _ payload: @Sendable (SigningAlgorithm) -> [UInt8]
    ) async throws -> String

    /// Decodes the claims of a token whose signature and header are valid, but does not check them.
    ///
    /// They are `nil` if the token names a key that is not published, or no longer.
    /// - Throws: `AccountsError.invalidToken`, also for claims that `Claims` cannot be decoded from.
    func claims<Claims: Decodable & Sendable>(
        of token: String, as kind: JWTKind, for application: Application
    ) async throws -> Claims?
}

extension ApplicationJWTs {
    package func sign(_ payload: [UInt8], as kind: JWTKind, for application: Application) async throws -> String {
        try await sign(as: kind, for: application) { _ in payload }
    }
}
