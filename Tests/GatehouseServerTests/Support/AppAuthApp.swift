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

    /// What the library reads of the answer to a registration.
    struct Registration: Decodable, Sendable {
        let clientId: String
        let clientSecret, registrationAccessToken, registrationClientUri, tokenEndpointAuthMethod: String?
        let clientSecretExpiresAt, clientIdIssuedAt: Int?
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
    /// Where the app deletes its registration, and the token for that.
    let management: (url: String, token: String)

    /// Fetches the configuration of the issuer, for an instance that is registered.
    init(_ app: BlitzApp, issuer: String, as instance: BlitzApp.Instance) async throws {
        metadata = try await Self.metadata(app, issuer: issuer)
        (self.app, clientID, clientSecret) = (app, instance.clientId, instance.clientSecret)
        management = (instance.registrationClientUri, instance.registrationAccessToken)
    }

    /// Fetches the configuration of the issuer, and registers at the endpoint that it names.
    ///
    /// The library always sends what it can register; software and statement are additional parameters.
    init(registering app: BlitzApp, issuer: String) async throws {
        let metadata = try await Self.metadata(app, issuer: issuer)
        let body: JSONValue = [
            "redirect_uris": [.string(BlitzApp.privateURI)], "application_type": "native", "response_types": ["code"],
            "grant_types": ["authorization_code"], "subject_type": "public",
            "token_endpoint_auth_method": "client_secret_basic", "software_id": .string(BlitzApp.softwareID),
            "device_type": .string(app.deviceType), "software_statement": .string(BlitzApp.softwareStatement),
        ]
        let answer = try await app.send(
            .POST, try #require(metadata.registrationEndpoint),
            ["Content-Type": "application/json", "Authorization": "Bearer \(BlitzApp.initialAccessToken)"],
            body: String(decoding: JSONEncoder().encode(body), as: UTF8.self))
        let registration = try answer.decoded(Registration.self, status: 201)
        // A secret must come with its end, and both members of the management or none.
        try #require(registration.clientSecretExpiresAt != nil, "\(answer.text)")
        (self.app, self.metadata, clientID) = (app, metadata, registration.clientId)
        clientSecret = try #require(registration.clientSecret, "\(answer.text)")
        management = (
            try #require(registration.registrationClientUri, "\(answer.text)"),
            try #require(registration.registrationAccessToken, "\(answer.text)")
        )
    }

    private static func metadata(_ app: BlitzApp, issuer: String) async throws -> Discovery {
        let found = try await app.send(.GET, "\(issuer)/.well-known/openid-configuration").decoded(Discovery.self)
        try #require(found.issuer == issuer)
        return found
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
        let tokens = try await redemption(of: code, request, verifier: request.verifier).decoded(Tokens.self)
        try check(try #require(tokens.idToken), nonce: request.nonce)
        return tokens
    }

    func redemption(of code: String, _ request: Request, verifier: String) async throws -> BlitzApp.Answer {
        try await post([
            "grant_type": "authorization_code", "code": code, "redirect_uri": request.redirectURI,
            "code_verifier": verifier,
        ])
    }

    func clientCredentials(scope: String) async throws -> BlitzApp.Answer {
        try await post(["grant_type": "client_credentials", "scope": scope])
    }

    func refresh(_ token: String) async throws -> Tokens {
        let tokens = try await post(["grant_type": "refresh_token", "refresh_token": token]).decoded(Tokens.self)
        if let idToken = tokens.idToken { try check(idToken, nonce: nil) }
        return tokens
    }

    private func post(_ form: [String: String]) async throws -> BlitzApp.Answer {
        try await app.send(
            .POST, metadata.tokenEndpoint,
            ["Authorization": authorization, "Content-Type": "application/x-www-form-urlencoded"],
            body: RelyingParty.encoded(form))
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

    // MARK: - With an access token

    func userInfo(_ accessToken: String) async throws -> BlitzApp.Answer {
        try await app.send(
            .GET, try #require(metadata.userinfoEndpoint), ["Authorization": "Bearer \(accessToken)"])
    }

    // MARK: - The end

    /// Deletes the registration; the library itself has no call for it.
    func delete() async throws -> BlitzApp.Answer {
        try await app.send(.DELETE, management.url, ["Authorization": "Bearer \(management.token)"])
    }

    func endSession(idToken: String, returningTo uri: String, state: String) throws -> String {
        let endpoint = try #require(metadata.endSessionEndpoint)
        let parameters = ["id_token_hint": idToken, "post_logout_redirect_uri": uri, "state": state]
        return "\(endpoint)?\(RelyingParty.encoded(parameters))"
    }
}
