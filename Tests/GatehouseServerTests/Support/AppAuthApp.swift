import Foundation
import NIOHTTP1
import ProviderKit
import Testing

/// An app with AppAuth: the requests that the library sends, and what it checks in each answer.
///
/// The library finds all endpoints by the issuer's metadata, encodes the credentials as a form before it joins them for
/// Basic, and refuses an ID token whose `iss` is not the issuer of the metadata.
struct AppAuthApp: Sendable {
    /// Members without which the library refuses the metadata.
    struct Discovery: Decodable, Sendable {
        let issuer, authorizationEndpoint, tokenEndpoint, jwksUri: String
        let responseTypesSupported, subjectTypesSupported, idTokenSigningAlgValuesSupported: [String]
        let registrationEndpoint, endSessionEndpoint, userinfoEndpoint: String?
    }

    struct Tokens: Decodable, Sendable {
        let tokenType: String
        let accessToken, idToken, refreshToken, scope: String?
        let expiresIn: Int?
    }

    /// A request that is under way in the browser.
    struct Request: Sendable {
        let state = Self.random(16)
        let nonce = Self.random(16)
        let verifier = Self.random(64)
        let redirectURI: String

        private static func random(_ count: Int) -> String {
            Digest.base64URL((0..<count).map { _ in UInt8.random(in: .min ... .max) })
        }
    }

    let app: BlitzApp
    let metadata: Discovery
    let clientID, clientSecret: String

    /// Fetches the configuration of the issuer.
    init(_ app: BlitzApp, issuer: String, as instance: BlitzApp.Instance) async throws {
        let answer = try await app.send(.GET, "\(issuer)/.well-known/openid-configuration")
        metadata = try answer.decoded(Discovery.self)
        (self.app, clientID, clientSecret) = (app, instance.clientId, instance.clientSecret)
    }

    // MARK: - The authorization request

    func address(of request: Request, scope: String, _ others: [String: String] = [:]) -> String {
        let parameters = [
            "redirect_uri": request.redirectURI, "client_id": clientID, "response_type": "code",
            "state": request.state, "nonce": request.nonce, "scope": scope,
            "code_challenge": CodeChallenge.s256(of: request.verifier), "code_challenge_method": "S256",
        ]
        return "\(metadata.authorizationEndpoint)?\(RelyingParty.encoded(parameters.merging(others) { $1 }))"
    }

    /// Reads the redirect that the system has handed to the app.
    func code(in redirect: String, of request: Request) throws -> String {
        try #require(redirect.hasPrefix(request.redirectURI + "?"), "\(redirect)")
        let answer = try #require(URLComponents(string: redirect))
        try #require(answer.query("state") == request.state, "\(redirect)")
        // RFC 9207; the metadata says that the answer has it.
        try #require(answer.query("iss") == metadata.issuer, "\(redirect)")
        return try #require(answer.query("code"), "\(redirect)")
    }

    // MARK: - The token endpoint

    func exchange(_ code: String, of request: Request) async throws -> Tokens {
        let tokens = try await post([
            "grant_type": "authorization_code", "code": code, "redirect_uri": request.redirectURI,
            "code_verifier": request.verifier,
        ])
        try check(try #require(tokens.idToken), nonce: request.nonce)
        return tokens
    }

    func refresh(_ token: String) async throws -> Tokens {
        let tokens = try await post(["grant_type": "refresh_token", "refresh_token": token])
        if let idToken = tokens.idToken { try check(idToken, nonce: nil) }
        return tokens
    }

    private func post(_ form: [String: String]) async throws -> Tokens {
        let answer = try await app.send(
            .POST, metadata.tokenEndpoint,
            ["Authorization": authorization, "Content-Type": "application/x-www-form-urlencoded"],
            body: RelyingParty.encoded(form))
        return try answer.decoded(Tokens.self)
    }

    /// Java's form encoding, which AppAuth for Android uses, also encodes `~`.
    private var authorization: String {
        let pair = [clientID, clientSecret].map { $0.formEncoded.replacing("~", with: "%7E") }
        return "Basic " + Data(pair.joined(separator: ":").utf8).base64EncodedString()
    }

    /// The checks of the library: issuer, audience, both times, and the nonce after a code.
    private func check(_ idToken: String, nonce: String?) throws {
        let claims = try DecodedToken(idToken).claims
        try #require(claims["iss"].string == metadata.issuer, "\(claims)")
        let audience = claims["aud"].string.map { [$0] } ?? claims["aud"].array?.compactMap(\.string) ?? []
        try #require(audience.contains(clientID), "\(claims)")
        let now = Int64(Date().timeIntervalSince1970)
        try #require(now <= claims["exp"].integer ?? 0)
        try #require(abs(now - (claims["iat"].integer ?? 0)) <= 600)
        if let nonce { try #require(claims["nonce"].string == nonce, "\(claims)") }
    }

    // MARK: - The end of the session

    func endSession(idToken: String, returningTo uri: String, state: String) throws -> String {
        let endpoint = try #require(metadata.endSessionEndpoint)
        let parameters = ["id_token_hint": idToken, "post_logout_redirect_uri": uri, "state": state]
        return "\(endpoint)?\(RelyingParty.encoded(parameters))"
    }
}
