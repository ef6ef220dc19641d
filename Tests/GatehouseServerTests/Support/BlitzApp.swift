import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import ProviderKit
import Testing

/// A mobile app, written from the page "Connecting a mobile app" of Blitz Identity Provider's documentation alone.
///
/// It has HTTP code of its own. It decodes answers strictly: every member that the page shows must be there.
struct BlitzApp: Sendable {
    // What the operator gives to the app's developers.
    static let softwareID = "CSI"
    static let initialAccessToken = "NINxnizbgYYQg94vEd6MjkTPxR3r2s9IAHBO92AszgTIqItY"
    static let softwareStatement = "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJzb2Z0d2FyZV9pZCI6IkNTSSJ9.c3RhdGVtZW50xQ"
    static let privateURI = "com.example.app:/oauth2redirect/example-provider"
    static let webURI = "https://app.example.com/oauth2redirect/example-provider"
    static let logoutURI = "com.example.app:/signed-out"

    /// The clients of `RelyingParty` and `Device`, the app's software, and the paths of Blitz.
    static func configuration(firstLoginWithin: String = "1h", software: String = "", openID: String = "") -> String {
        """
        \(Device.configuration)
          software:
            \(softwareID):
              name: Company
              version: "1"
              initialAccessTokens: ["\(initialAccessToken)"]
              statements: ["\(softwareStatement)"]
              redirectURIs: ["\(privateURI)", "\(webURI)"]
              postLogoutRedirectURIs: ["\(logoutURI)"]
              scopes: [openid, profile, native, blitz_qr_auth, offline_access, account]
              firstLoginWithin: \(firstLoginWithin)
              \(software.replacing("\n", with: "\n      "))
          paths: [blitz]
          \(openID.replacing("\n", with: "\n  "))
        """
    }

    /// The same with everything that other apps can have, so that every documented path is served.
    static let everything = configuration(openID: "registration: { mode: open }")

    /// The server that the app's network leads to; the app knows its public URL only.
    var server: TestServer
    var host = PageBrowser.issuer
    var deviceType = "iphone"
    /// The URLs of the metadata, once the app has read them; the page lets an app use them instead of its list.
    private var metadata: Endpoints?

    init(_ server: TestServer) { self.server = server }

    /// The URLs that the page lists, which are also in the metadata.
    struct Endpoints: Decodable, Equatable, Sendable {
        let authorizationEndpoint, tokenEndpoint, userinfoEndpoint, registrationEndpoint: String
        let introspectionEndpoint, endSessionEndpoint: String
    }

    var endpoints: Endpoints {
        metadata
            ?? Endpoints(
                authorizationEndpoint: host + "/blitz/oauth/ae", tokenEndpoint: host + "/blitz/oauth/te",
                userinfoEndpoint: host + "/blitz/oauth/me", registrationEndpoint: host + "/blitz/oauth/register",
                introspectionEndpoint: host + "/blitz/oauth/introspect",
                endSessionEndpoint: host + "/blitz/oauth/logout")
    }

    /// The app with the URLs of the metadata.
    func discovering() async throws -> Self {
        var app = self
        app.metadata = try await send(.GET, host + "/blitz/.well-known/openid-configuration").decoded(Endpoints.self)
        return app
    }

    // MARK: - HTTP

    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let text: String

        func decoded<Value: Decodable>(_ type: Value.Type, status: Int = 200) throws -> Value {
            try #require(self.status == status, "\(self.status) \(text)")
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return try decoder.decode(type, from: Data(text.utf8))
        }
    }

    private static let http = HTTPClient(
        eventLoopGroupProvider: .singleton, configuration: APIClient.configuration)

    func send(
        _ method: HTTPMethod, _ url: String, _ fields: KeyValuePairs<String, String> = [:], body: String? = nil
    ) async throws -> Answer {
        try #require(url.hasPrefix(host + "/"), "\(url) is not at the server")
        var request = HTTPClientRequest(url: server.url + url.dropFirst(host.count))
        request.method = method
        request.headers.add(name: "Host", value: String(host.dropFirst("http://".count)))
        for (name, value) in fields { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(Array(body.utf8)) }
        let response = try await Self.http.execute(request, timeout: .seconds(60))
        let content = try await response.body.collect(upTo: 1 << 20)
        return Answer(
            status: Int(response.status.code), headers: response.headers, text: String(buffer: content))
    }

    private func post(_ url: String, _ form: KeyValuePairs<String, String>, by instance: Instance) async throws
        -> Answer
    {
        try await send(
            .POST, url,
            ["Authorization": instance.authorization, "Content-Type": "application/x-www-form-urlencoded"],
            body: Self.encoded(form))
    }

    private static func encoded(_ parameters: KeyValuePairs<String, String>) -> String {
        parameters.map { "\($0)=\($1.formEncoded)" }.joined(separator: "&")
    }

    // MARK: - Dynamic registration of an application instance

    /// What the app keeps of the answer to its registration.
    struct Instance: Decodable, Sendable {
        let grantTypes: [String]
        let registrationClientUri: String
        let scope: String
        let registrationAccessToken: String
        let clientId: String
        let softwareId: String
        let softwareVersion: String
        let tokenEndpointAuthMethod: String
        let responseTypes: [String]
        let redirectUris: [String]
        var clientSecret: String
        let clientSecretExpiresAt: Int

        /// `Basic {secret}`, where the secret is `client_id:client_secret` in Base64.
        var authorization: String { "Basic " + Data("\(clientId):\(clientSecret)".utf8).base64EncodedString() }
    }

    func registration(
        token: String = initialAccessToken, software: String = softwareID, statement: String = softwareStatement
    ) async throws -> Answer {
        let body: JSONValue = [
            "software_id": .string(software), "device_type": .string(deviceType),
            "software_statement": .string(statement),
        ]
        return try await send(
            .POST, endpoints.registrationEndpoint,
            ["Content-Type": "application/json", "Authorization": "Bearer \(token)"],
            body: String(decoding: JSONEncoder().encode(body), as: UTF8.self))
    }

    func register() async throws -> Instance { try await registration().decoded(Instance.self, status: 201) }

    // MARK: - User's initial login

    /// A request for an authorization code, which the app opens in the browser of the platform.
    struct LoginRequest: Sendable {
        let verifier = Digest.base64URL(Digest.sha256(of: UUID().uuidString))
        let state = UUID().uuidString.lowercased()
        let redirectURI: String
        let url: String

        fileprivate init(
            at endpoint: String, instance: Instance, scope: String, redirectURI: String, others: [String: String]
        ) {
            self.redirectURI = redirectURI
            var parameters = [
                "scope": scope, "response_type": "code", "state": state, "client_id": instance.clientId,
                "code_challenge_method": "S256", "code_challenge": CodeChallenge.s256(of: verifier),
                "redirect_uri": redirectURI,
            ]
            parameters.merge(others) { $1 }
            url = "\(endpoint)?\(RelyingParty.encoded(parameters))"
        }

        /// The code with which the browser has come back.
        func code(in url: String) throws -> String {
            try #require(url.hasPrefix(redirectURI + "?"), "\(url) is not the app's")
            let answer = try #require(URLComponents(string: url))
            try #require(answer.query("state") == state, "\(url)")
            return try #require(answer.query("code"), "\(url)")
        }
    }

    func login(
        _ instance: Instance, scope: String = "openid profile", redirectURI: String = privateURI,
        _ others: [String: String] = [:]
    ) -> LoginRequest {
        LoginRequest(
            at: endpoints.authorizationEndpoint, instance: instance, scope: scope, redirectURI: redirectURI,
            others: others)
    }

    struct Tokens: Decodable, Sendable {
        let idToken: String
        let accessToken: String
        let expiresIn: Int
        let scope: String
        let tokenType: String
        /// Only with `access_type=offline`.
        let refreshToken: String?
    }

    func redemption(
        of code: String, _ request: LoginRequest, by instance: Instance, verifier: String? = nil
    ) async throws -> Answer {
        try await post(
            endpoints.tokenEndpoint,
            [
                "grant_type": "authorization_code", "code": code, "redirect_uri": request.redirectURI,
                "code_verifier": verifier ?? request.verifier,
            ], by: instance)
    }

    func tokens(for code: String, _ request: LoginRequest, by instance: Instance) async throws -> Tokens {
        try await redemption(of: code, request, by: instance).decoded(Tokens.self)
    }

    struct Refusal: Decodable, Equatable, Sendable {
        let error: String
        let errorDescription: String
    }

    func userData(_ accessToken: String) async throws -> Answer {
        try await send(.GET, endpoints.userinfoEndpoint, ["Authorization": "Bearer \(accessToken)"])
    }

    // MARK: - User re-login, and opening web resources

    struct ReloginTokens: Decodable, Sendable {
        let accessToken: String
        let expiresIn: Int
        let scope: String
        let tokenType: String
    }

    struct NativeTokens: Decodable, Sendable {
        let accessToken: String
        let css: String
        let expiresIn: Int
        let scope: String
        let tokenType: String
    }

    func relogin(_ instance: Instance, scope: String) async throws -> Answer {
        try await post(endpoints.tokenEndpoint, ["grant_type": "client_credentials", "scope": scope], by: instance)
    }

    func refresh(_ token: String, scope: String? = nil, by instance: Instance) async throws -> Answer {
        guard let scope else {
            return try await post(
                endpoints.tokenEndpoint, ["grant_type": "refresh_token", "refresh_token": token], by: instance)
        }
        return try await post(
            endpoints.tokenEndpoint, ["grant_type": "refresh_token", "refresh_token": token, "scope": scope],
            by: instance)
    }

    /// The cookie that the app sets in the web browser before it opens a web resource.
    func native(_ instance: Instance) async throws -> NativeTokens {
        try await relogin(instance, scope: "native").decoded(NativeTokens.self)
    }

    // MARK: - User switching or logging out

    func delete(_ instance: Instance, token: String? = nil) async throws -> Answer {
        try await send(
            .DELETE, instance.registrationClientUri,
            ["Authorization": "Bearer \(token ?? instance.registrationAccessToken)"])
    }

    // MARK: - Token data

    func introspection(of token: String, by instance: Instance) async throws -> Answer {
        try await post(endpoints.introspectionEndpoint, ["token": token], by: instance)
    }
}

extension BlitzApp {
    /// Registers an instance, and signs a person in on it, in a browser of its own.
    func signIn(
        _ person: Person, scope: String = "openid profile", _ others: [String: String] = [:]
    ) async throws -> (instance: Instance, tokens: Tokens, browser: PageBrowser) {
        let instance = try await register()
        var browser = PageBrowser(server)
        let tokens = try await signIn(person, on: instance, in: &browser, scope: scope, others)
        return (instance, tokens, browser)
    }

    /// Signs a person in on an instance.
    func signIn(
        _ person: Person, on instance: Instance, in browser: inout PageBrowser, scope: String = "openid profile",
        _ others: [String: String] = [:]
    ) async throws -> Tokens {
        let request = login(instance, scope: scope, others)
        let page = try await browser.open(request.url)
        let ended = try await browser.signIn(person, at: page)
        return try await tokens(for: request.code(in: ended.target ?? "\(ended.text)"), request, by: instance)
    }
}
