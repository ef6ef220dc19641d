import Accounts
import Delivery
import Foundation
import GatehouseTesting
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ProviderKit
import Synchronization
import Testing

@testable import GatehouseServer

/// The web server of an app that uses the client for JavaScript, at an origin of its own.
///
/// It serves the files in `Tests/JavaScript`, in which `SERVER` is the URL of Gatehouse, and the mails that arrived. It
/// also is the OAuth 2.0 provider `corp`, which signs in one person without a page.
final class ClientApp: Sendable {
    static let files = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../JavaScript").standardizedFileURL
    static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../Sources/HTTPAPI/Scripts").standardizedFileURL

    private struct State {
        var port = 0
        var server: TestServer?
        /// Who signs in at the provider; empty if they refuse.
        var person = "ada"
        /// The `login_hint` of each visit of the provider's page, or an empty text.
        var hints: [String] = []
    }

    private let state = Mutex(State())
    /// Signs the custom tokens and the assertions of the mobile operator.
    private let authority: TestAuthority

    private init() throws { authority = try TestAuthority() }

    var url: String { "http://127.0.0.1:\(state.withLock { $0.port })" }
    var server: TestServer? { state.withLock { $0.server } }
    var hints: [String] { state.withLock { $0.hints } }

    /// Runs the body with a server that lists the app's origin, and has providers of all kinds that need no other service.
    static func with(
        application: String = "", logger: Logger = TestServer.silence,
        _ body: @Sendable @escaping (ClientApp, TestServer) async throws -> Void
    ) async throws {
        try await serve { app in
            let corp = """
                corp: { kind: oauth2, authorizationEndpoint: "\(app.url)/authorize", tokenEndpoint: "\(app.url)/token", \
                userInfoEndpoint: "\(app.url)/me", clientID: client, clientSecret: secret, scopes: [profile], \
                claims: { providerUid: id, email: mail, emailVerified: null, displayName: name }, forward: [login_hint] }
                phone: { enabled: true, allowedCountries: [FR] }
                custom: { \(app.customTokens) }
                carrier: { kind: mobile-network, issuer: "https://operator.example", jwksURL: "\(app.url)/keys" }
                """
            // Its providers have other names than their kinds.
            let named = """
                  named:
                    audience: named-app
                    origins: ["https://named.example"]
                    tokens: { algorithm: ES256 }
                    providers:
                      anonymous: { enabled: true }
                      password: { kind: email, enabled: true, verificationLink: "https://named.example/verify" }
                      legacy: { \(app.customTokens) }
                """
            try await TestServer.with(
                application: "redirectURIs: [\"\(app.url)/app.html\"]\nrevealExistingIdentities: true\n\(application)",
                providers: corp,
                others: TestServer.photos + "\n" + named, origin: app.url,
                email: "enabled: true, resetLink: \"https://demo.example/reset\"", logger: logger
            ) { server in
                app.state.withLock { $0.server = server }
                try await body(app, server)
            }
        }
    }

    private static func serve(_ body: @Sendable @escaping (ClientApp) async throws -> Void) async throws {
        let app = try ClientApp()
        try await UpstreamServer.serve {
            try await app.answer($0)
        } _: { port in
            app.state.withLock { $0.port = port }
            try await body(app)
        }
    }

    private func answer(_ request: Request) async throws -> Response {
        let body = String(buffer: try await request.body.collect(upTo: 1 << 20))
        let query = request.uri.queryParameters
        switch request.uri.path {
        case "/mail":
            let to = query["to"].map { String($0) } ?? ""
            let texts = server?.inbox.messages().filter { $0.to == to }.map { JSONValue.string($0.text) }
            return try Self.json(.array(texts ?? []))
        case "/pass":
            try await server?.letPass(.seconds(query["seconds"].flatMap { Int($0) } ?? 0))
            return try Self.json([:])
        case "/keys":
            return try Self.json(authority.keySet)
        case "/custom":
            let phone = query["phone"].map { String($0) }
            let now = Int64(Date().timeIntervalSince1970)
            var claims: [String: JSONValue] = [
                "iss": .string(phone == nil ? "https://legacy.example" : "https://operator.example"), "aud": "demo",
                "jti": .string(UUID().uuidString), "iat": .integer(now), "exp": .integer(now + 200),
            ]
            claims["sub"] = query["sub"].map { .string(String($0)) }
            claims["phone_number"] = phone.map { .string($0) }
            return try Self.json(["token": .string(authority.token(claims))])
        case "/person":
            state.withLock { $0.person = query["is"].map { String($0) } ?? "" }
            return try Self.json([:])
        case "/authorize":
            let hint = query["login_hint"].map { String($0) } ?? ""
            let person = state.withLock { state in
                state.hints.append(hint)
                return state.person
            }
            let callback = query["redirect_uri"].map { String($0) } ?? ""
            let target = callback.addingQuery([
                "error": person.isEmpty ? "access_denied" : nil, "code": person.isEmpty ? nil : person,
                "state": query["state"].map { String($0) },
            ])
            return Response(status: .found, headers: [.location: target])
        case "/token":
            let code = URLComponents(string: "?" + body)?.query("code") ?? ""
            return try Self.json(["access_token": .string(code), "token_type": "bearer"])
        case "/me":
            let person = String(request.headers[.authorization]?.dropFirst("Bearer ".count) ?? "")
            return try Self.json([
                "id": .string(person), "mail": .string("\(person)@corp.example"), "name": .string(person),
            ])
        case "/documented.mjs":
            return script(try Self.examples())
        default:
            return file(request.uri.path)
        }
    }

    /// The settings of a provider that accepts the tokens of `authority`.
    private var customTokens: String {
        """
        kind: custom-token, issuer: "https://legacy.example", audience: demo, algorithms: [ES256], \
        jwks: "\(authority.keySetText.replacing("\"", with: "\\\""))"
        """
    }

    /// The examples of the client's page as one module.
    private static func examples() throws -> String {
        let page = files.appending(path: "../../docs/clients/javascript.md").standardizedFileURL
        let text = try String(contentsOf: page, encoding: .utf8)
        return text.matches(of: /(?s)```js\n(.*?)```/).map { String($0.output.1) }.joined(separator: "\n")
            .replacing("https://login.example.com", with: "SERVER")
    }

    private func file(_ path: String) -> Response {
        guard let text = try? String(contentsOf: Self.files.appending(path: path), encoding: .utf8) else {
            return Response(status: .notFound)
        }
        return script(text, type: path.hasSuffix(".html") ? "text/html; charset=utf-8" : "text/javascript")
    }

    private func script(_ text: String, type: String = "text/javascript") -> Response {
        Response(
            status: .ok, headers: [.contentType: type],
            body: .init(byteBuffer: ByteBuffer(string: text.replacing("SERVER", with: server?.url ?? ""))))
    }

    private static func json(_ value: JSONValue) throws -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(value))))
    }
}
