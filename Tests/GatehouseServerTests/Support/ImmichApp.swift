import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// An app of Immich, which knows nothing of version 1 of the API.
struct ImmichApp: Sendable {
    static let redirectURI = "app.immich:///oauth-callback"

    /// The keys of an application that serves such apps.
    static let application = """
        redirectURIs: ["\(redirectURI)", "immich://oauth-callback", "https://photos.example/back"]
        dialects:
          immich:
            version: "1.119.0"
            redirectURI: "\(redirectURI)"
        """
    static let providers = "scripted: { displayName: Company }"

    let api: APIClient
    var verifier = String(repeating: "v", count: 43)

    static func with(
        application: String = application, providers: String = providers, rateLimits: String = "off",
        _ body: @Sendable @escaping (TestServer, ImmichApp) async throws -> Void
    ) async throws {
        try await TestServer.with(application: application, providers: providers, rateLimits: rateLimits) { server in
            try await body(server, ImmichApp(api: APIClient(server)))
        }
    }

    /// Calls a path below `/api`; `token` is sent in the app's own field.
    func call(
        _ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil, token: String? = nil,
        headers: HTTPHeaders = [:]
    ) async throws -> APIClient.Answer {
        var headers = headers
        if let token { headers.add(name: "x-immich-user-token", value: token) }
        let raw = try body.map { Array(try JSONEncoder().encode($0)) }
        return try await api.send(method, "/api" + path, raw: raw, headers: headers)
    }

    func login(
        _ email: String, _ password: String = APIClient.password, headers: HTTPHeaders = [:]
    ) async throws -> APIClient.Answer {
        try await call(
            .POST, "/auth/login", ["email": .string(email), "password": .string(password)], headers: headers)
    }

    /// Registers a person by version 1, and returns the app's token.
    func token(at server: TestServer) async throws -> String {
        let person = try await api.register(at: server)
        return try #require(try await login(person.email)["accessToken"].string)
    }

    /// Begins a sign-in at the provider's pages.
    func authorize(redirectURI: String? = redirectURI, state: String = "the state") async throws -> APIClient.Answer {
        var body: [String: JSONValue] = [
            "state": .string(state), "codeChallenge": .string(CodeChallenge.s256(of: verifier)),
        ]
        body["redirectUri"] = redirectURI.map { .string($0) }
        return try await call(.POST, "/oauth/authorize", .object(body))
    }

    /// Signs in at the provider, and returns the URL at which the app is opened again.
    func arrive(_ name: String = "ada", redirectURI: String = redirectURI, state: String = "the state") async throws
        -> String
    {
        let begun = try await authorize(redirectURI: redirectURI, state: state)
        let url = try #require(begun["url"].string.flatMap { URLComponents(string: $0) }, "\(begun.text)")
        let flow = RedirectClient.Flow(authorization: begun, url: url, cookie: nil)
        let browser = RedirectClient(api: api)
        let answer = try await browser.callback(
            flow, ["code": VerifiedIdentity.somebody(name, email: "\(name)@example.com").proof])
        return try #require(answer.headers.first(name: "location"), "\(answer.text)")
    }

    func callback(_ url: String, state: String? = nil, verifier: String? = nil) async throws -> APIClient.Answer {
        var body: [String: JSONValue] = ["url": .string(url), "codeVerifier": .string(verifier ?? self.verifier)]
        body["state"] = state.map { .string($0) }
        return try await call(.POST, "/oauth/callback", .object(body))
    }
}

/// Expects a refusal in the words and members of Immich.
func expectImmich(
    _ answer: APIClient.Answer, _ status: Int, _ code: String, _ message: String, _ about: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let reasons = [
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        409: "Conflict", 413: "Content Too Large", 415: "Unsupported Media Type", 429: "Too Many Requests",
        503: "Service Unavailable",
    ]
    let expected: JSONValue = [
        "message": .string(message), "error": .string(reasons[status] ?? ""), "statusCode": .integer(Int64(status)),
        "correlationId": .string(answer.headers.first(name: "x-request-id") ?? ""), "code": .string(code),
    ]
    #expect(answer.status == status, "\(about): \(answer.text)", sourceLocation: sourceLocation)
    #expect(answer.json == expected, "\(about): \(answer.text)", sourceLocation: sourceLocation)
    #expect(
        answer.headers.first(name: "cache-control") == "no-store", "\(about)", sourceLocation: sourceLocation)
    #expect((answer.retryAfter != nil) == (status == 429 || status == 503), "\(about)", sourceLocation: sourceLocation)
}
