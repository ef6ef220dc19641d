import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing
import Tokens

@testable import GatehouseServer

/// An app that signs people in with the application `demo` as its OpenID provider.
struct RelyingParty: Sendable {
    static let secret = "a secret of the web client, 32 bytes and more"
    static let redirectURI = "https://photos.example/cb"
    static let verifier = "verifier-of-a-relying-party-that-is-long-enough"

    /// The clients of the tests: `web` has a secret, `spa` has none, and `jobs` has no people.
    static let configuration = """
        openid:
          clients:
            web:
              name: Photos
              secret: "\(secret)"
              redirectURIs: ["\(redirectURI)"]
              postLogoutRedirectURIs: ["https://photos.example/bye", "https://photos.example/bye?from=app"]
              firstParty: true
              scopes: [openid, profile, email, phone, offline_access]
              resources: ["https://api.photos.example"]
            spa:
              name: { en: Gallery, de: Galerie }
              public: true
              redirectURIs: ["https://gallery.example/cb"]
              scopes: [openid, email, offline_access]
              subject: pairwise
            jobs:
              name: Jobs
              secret: "\(secret)"
              grants: [client_credentials]
              resources: ["https://api.photos.example"]
              introspects: ["https://api.photos.example"]
            loose:
              name: Loose
              secret: "\(secret)"
              pkce: optional
              redirectURIs: ["\(redirectURI)"]
              firstParty: true
            app:
              name: App
              public: true
              redirectURIs: ["com.example.app:/cb", "http://127.0.0.1/cb"]
              firstParty: true
          resources:
            "https://api.photos.example": { accessLifetime: 600, scopes: { read: See your photos } }
        """

    /// The same with a client `web` that receives logout tokens.
    static func configuration(backchannel uri: String) -> String {
        configuration.replacing("name: Photos", with: "name: Photos\n      backchannelLogoutURI: \"\(uri)\"")
            .replacing("name: { en: Gallery", with: "backchannelLogoutURI: \"\(uri)\"\n      name: { en: Gallery")
    }

    var api: APIClient
    let server: TestServer
    var client = "web"
    var redirectURI = Self.redirectURI
    var secret: String? = Self.secret
    var endpoints = Endpoints()

    /// The paths of the endpoints that the client uses.
    struct Endpoints: Sendable {
        var authorization = "/oauth/authorize"
        var token = "/oauth/token"
        var userInfo = "/oauth/userinfo"
        var introspection = "/oauth/introspect"
        var revocation = "/oauth/revoke"
        var push = "/oauth/par"
        var logout = "/oauth/logout"

        static let blitz = Self(
            authorization: "/blitz/oauth/ae", token: "/blitz/oauth/te", userInfo: "/blitz/oauth/me",
            introspection: "/blitz/oauth/introspect", revocation: "/blitz/oauth/revoke", push: "/blitz/oauth/par",
            logout: "/blitz/oauth/logout")
    }

    init(_ server: TestServer, application: String? = nil) {
        (api, self.server) = (APIClient(server, application: application), server)
    }

    /// The client `spa`, which has no secret.
    static func `public`(_ server: TestServer) -> Self {
        var party = Self(server)
        (party.client, party.redirectURI, party.secret) = ("spa", "https://gallery.example/cb", nil)
        return party
    }

    // MARK: - The browser

    /// Signs a person in, in a new browser, and returns its cookie.
    func browser(of person: Person, idle: String? = nil) async throws -> String {
        let token = server.backend.opaque.make()
        try await server.execute(
            """
            INSERT INTO sessions (application_id, id, uid, identity_id, methods, device, address, expires_at,
                                  kind, browser_hash, last_used_at, idle)
            SELECT application_id, gen_random_uuid(), uid, identity_id, methods, device, address,
                   now() + interval '1 day', 'browser', $2, now(), $3::text::interval
              FROM sessions WHERE uid = $1 AND kind = 'api' LIMIT 1
            """, [.uuid(UUID(uuidString: person.uid)), .bytes(token.hash), .text(idle)])
        return "gatehouse-sso-demo=\(token.text)"
    }

    /// The parameters of an authorization request of the client.
    func parameters(_ others: [String: String] = [:]) -> [String: String] {
        let parameters = [
            "client_id": client, "redirect_uri": redirectURI, "response_type": "code", "scope": "openid email",
            "state": "s t&", "nonce": "n", "code_challenge": CodeChallenge.s256(of: Self.verifier),
            "code_challenge_method": "S256",
        ]
        return parameters.merging(others) { $1 }
    }

    func authorize(
        _ parameters: [String: String] = [:], omitting: Set<String> = [], cookie: String?, isForm: Bool = false
    ) async throws -> APIClient.Answer {
        var query = self.parameters(parameters)
        for name in omitting { query[name] = nil }
        var headers = HTTPHeaders()
        if let cookie { headers.add(name: "cookie", value: cookie) }
        guard isForm else {
            return try await api.send(.GET, "\(endpoints.authorization)?\(Self.encoded(query))", headers: headers)
        }
        headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        return try await api.send(
            .POST, endpoints.authorization, raw: Array(Self.encoded(query).utf8), headers: headers)
    }

    /// The client `app`, an app on a device.
    static func native(_ server: TestServer) -> Self {
        var party = Self(server)
        (party.client, party.redirectURI, party.secret) = ("app", "com.example.app:/cb", nil)
        return party
    }

    /// A code for the person who is signed in with the cookie.
    func code(_ parameters: [String: String] = [:], omitting: Set<String> = [], cookie: String) async throws -> String {
        let answer = try await authorize(parameters, omitting: omitting, cookie: cookie)
        return try #require(answer.returned("code"), "\(answer.status) \(answer.headers) \(answer.text)")
    }

    /// Lets the person allow the client `openid` and `email`.
    func consent(of person: Person) async throws {
        try await server.execute(
            """
            INSERT INTO consents (application_id, uid, client_id, scopes, resources)
            SELECT application_id, uid, $2, '{openid,email}', '{}' FROM accounts WHERE uid = $1
            """, [.uuid(UUID(uuidString: person.uid)), .text(client)])
    }

    // MARK: - The client

    func post(
        _ path: String, _ form: [String: String], isAuthenticated: Bool = true, headers: HTTPHeaders = [:]
    ) async throws -> APIClient.Answer {
        var (form, headers) = (form, headers)
        if isAuthenticated {
            form["client_id"] = client
            form["client_secret"] = secret
        }
        headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        return try await api.send(.POST, path, raw: Array(Self.encoded(form).utf8), headers: headers)
    }

    func redeem(_ code: String, _ others: [String: String] = [:]) async throws -> APIClient.Answer {
        let form = [
            "grant_type": "authorization_code", "code": code, "redirect_uri": redirectURI,
            "code_verifier": Self.verifier,
        ]
        return try await post(endpoints.token, form.merging(others) { $1 }.filter { !$0.value.isEmpty })
    }

    func refresh(_ token: String, _ others: [String: String] = [:]) async throws -> APIClient.Answer {
        try await post(
            endpoints.token, ["grant_type": "refresh_token", "refresh_token": token].merging(others) { $1 })
    }

    func userInfo(_ token: String) async throws -> APIClient.Answer {
        try await api.send(.GET, endpoints.userInfo, bearer: token)
    }

    /// Asks to sign the browser out.
    func logout(_ parameters: [String: String] = [:], cookie: String?) async throws -> APIClient.Answer {
        try await api.send(
            .GET, "\(endpoints.logout)?\(Self.encoded(parameters))", headers: cookie.map { ["cookie": $0] } ?? [:])
    }

    /// Whether the client's introspection calls the token active.
    func isActive(_ token: String) async throws -> Bool {
        let answer = try await post(endpoints.introspection, ["token": token])
        try #require(answer.status == 200, "\(answer.text)")
        return answer["active"] == true
    }

    static func encoded(_ parameters: [String: String]) -> String {
        parameters.map { "\($0.key)=\($0.value.formEncoded)" }.joined(separator: "&")
    }
}

extension APIClient.Answer {
    /// A parameter of the redirect URI that the answer leads to.
    func returned(_ name: String) -> String? {
        headers.first(name: "location").flatMap { URLComponents(string: $0) }?.query(name)
    }

    /// Whether the answer is an OAuth error of this code and status.
    func isOAuthError(_ status: Int, _ code: String) -> Bool { self.status == status && self["error"].string == code }
}
