import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// `GET /auth/check`: the sub-request with which a proxy asks who calls the app's back end.
struct BackEndCheckTests {
    private static let path = "/api/v1/auth/check"
    private static let application = [
        TimeTrackerApp.configuration("session: { idle: 10d, lifetime: 30d }"),
        RelyingParty.configuration.replacing("introspects: [", with: "introspects: [demo, "),
    ].joined(separator: "\n")

    private struct World: Sendable {
        let server: TestServer
        let api: APIClient
        let app: TimeTrackerApp

        init(_ server: TestServer) {
            (self.server, api) = (server, APIClient(server))
            app = TimeTrackerApp(api: api)
        }

        func check(_ bearer: String?, headers: HTTPHeaders = [:]) async throws -> APIClient.Answer {
            try await api.send(.GET, path, bearer: bearer, headers: headers)
        }

        /// The token for the back end, which must be given.
        func token(for bearer: String) async throws -> DecodedToken {
            let answer = try await check(bearer)
            try #require(answer.status == 204, "\(answer.text)")
            return try DecodedToken(try #require(answer.token))
        }
    }

    private func with(_ body: @Sendable @escaping (World) async throws -> Void) async throws {
        try await TestServer.with(application: Self.application, providers: "scripted: {}") { server in
            try await body(World(server))
        }
    }

    @Test func `a live token gets a short one, which the published keys verify`() async throws {
        try await with { world in
            let signedIn = try await world.app.signIn(.somebody("ada", email: "ada@example.com"))
            let person = try await world.api.register(at: world.server)
            let keys = try await world.api.send(.GET, "/.well-known/jwks.json")["keys"].array ?? []
            for (bearer, uid) in [(signedIn.accessToken, signedIn.user.id), (person.accessToken, person.uid)] {
                let token = try await world.token(for: bearer)
                #expect(token.header["typ"] == "at+jwt")
                let key = try #require(keys.first { $0["kid"] == token.header["kid"] })
                #expect(try token.isSigned(by: key))
                #expect(token.claims["aud"] == "demo" && token.claims["iss"] == "http://127.0.0.1:1")
                #expect(token.claims["sub"].string == uid && token.claims["scope"] == .null, "\(token.claims)")
                let left = Double(token.claims["exp"].integer ?? 0) - Date().timeIntervalSince1970
                #expect(left > 20 && left <= 60, "\(left)")
                #expect(!"\(token.claims)".contains("@"))
                let again = try await world.check(bearer)
                // It may be just half a minute later.
                #expect(again.token == token.text || left <= 30)
                #expect(again.headers.first(name: "cache-control") == "no-store" && again.body.isEmpty)
                let head = try await world.api.send(.HEAD, Self.path, bearer: bearer)
                #expect(head.status == 204 && head.token != nil)
            }
        }
    }

    @Test func `no call of this server takes the short token`() async throws {
        try await with { world in
            let person = try await world.api.register(at: world.server)
            let token = try await world.token(for: person.accessToken).text
            for path in ["/auth/me", "/auth/check", "/auth/sessions", "/auth/grants", "/auth/account/export"] {
                expectError(try await world.api.get(path, bearer: token), 403, "INSUFFICIENT_SCOPE")
            }
            expectError(try await world.api.delete("/auth/account", bearer: token), 403, "INSUFFICIENT_SCOPE")
            let logout = try await world.api.post(
                "/auth/logout", ["refreshToken": .string(person.refreshToken)], bearer: token)
            expectError(logout, 403, "INSUFFICIENT_SCOPE")
            #expect(try await world.app.me(token).status == 403)
            #expect(try await world.api.get("/auth/qr/\(UUID().uuidString.lowercased())", bearer: token).status == 401)
            #expect(try await world.api.refresh(token).status == 401)
            var party = RelyingParty(world.server)
            #expect(try await party.userInfo(token).isOAuthError(401, "invalid_token"))
            #expect(try await party.post("/oauth/revoke", ["token": token]).status == 200)
            party.client = "jobs"
            #expect(try await party.isActive(person.accessToken))
            #expect(try await !party.isActive(token))
        }
    }

    @Test func `without a live session there is no token, though one was signed just before`() async throws {
        try await with { world in
            let person = try await world.api.register(at: world.server)
            for bearer in [try await world.app.signIn(.somebody()).accessToken, person.accessToken] {
                #expect(try await world.check(bearer).status == 204)
                #expect(try await world.api.post("/auth/logout", bearer: bearer).status == 204)
                let ended = try await world.check(bearer)
                expectError(ended, 401, "INVALID_TOKEN")
                #expect(ended.token == nil)
            }
            let (one, other) = (try await world.api.guest().accessToken, try await world.api.guest().accessToken)
            for values in [[], ["Basic \(one)"], ["Bearer ghs_x"], ["Bearer \(one)", "Bearer \(other)"]] {
                let headers = HTTPHeaders(values.map { ("authorization", $0) })
                expectError(try await world.check(nil, headers: headers), 401, "INVALID_TOKEN", "\(values)")
            }
            expectError(try await world.api.get("/auth/check?access_token=\(one)"), 401, "INVALID_TOKEN")
            expectError(try await world.api.post("/auth/check", bearer: one), 405, "METHOD_NOT_ALLOWED")
        }
    }

    @Test func `the fields of the original request change nothing, and no page can call`() async throws {
        try await with { world in
            let bearer = try await world.api.guest().accessToken
            let answer = try await world.check(
                bearer,
                headers: [
                    "origin": "https://evil.example", "content-type": "multipart/form-data",
                    "cookie": "a=b", "x-forwarded-method": "POST", "x-forwarded-uri": "/assets",
                    "x-gatehouse-token": "forged", "accept": "text/html", "range": "bytes=0-1", "if-none-match": "*",
                ])
            #expect(answer.status == 204 && answer.token != "forged", "\(answer.text)")
            #expect(answer.headers.first(name: "access-control-allow-origin") == nil)
            for origin in ["https://evil.example", "http://localhost:3000"] {
                let preflight = try await world.api.send(
                    .OPTIONS, Self.path, headers: ["origin": origin, "access-control-request-method": "GET"])
                expectError(preflight, 403, "UNAUTHORIZED_REQUEST_ORIGIN")
            }
        }
    }

    @Test func `a PIN that unlocks the session shows in the token until it is locked`() async throws {
        try await with { world in
            let bearer = try await world.app.signIn(.somebody()).accessToken
            #expect(try await world.token(for: bearer).claims["elevated_until"] == .null)
            try await world.server.execute("UPDATE sessions SET elevated_until = now() + interval '15 minutes'")
            #expect(try await world.token(for: bearer).claims["elevated_until"].integer != nil)
            try await world.server.execute("UPDATE sessions SET elevated_until = NULL")
            #expect(try await world.token(for: bearer).claims["elevated_until"] == .null)
        }
    }

    @Test func `a dialect's own fields count where it is on`() async throws {
        try await TestServer.with(
            application: ImmichApp.application, providers: ImmichApp.providers, others: TestServer.photos
        ) { server in
            let api = APIClient(server)
            let bearer = try await ImmichApp(api: api).token(at: server)
            for field in ["x-immich-user-token", "x-immich-session-token", "X-Immich-User-Token"] {
                let answer = try await api.send(.GET, Self.path, headers: [field: bearer])
                #expect(answer.status == 204 && answer.token != nil, "\(field)")
            }
            let both = try await api.send(.GET, Self.path, bearer: bearer, headers: ["x-immich-user-token": bearer])
            #expect(both.status == 204)
            let other = try await api.guest().accessToken
            let two = try await api.send(.GET, Self.path, bearer: other, headers: ["x-immich-user-token": bearer])
            expectError(two, 401, "INVALID_TOKEN")
            let photos = APIClient(server, application: "photos")
            expectError(
                try await photos.send(.GET, Self.path, headers: ["x-immich-user-token": bearer]), 401, "INVALID_TOKEN")
            let guest = try await photos.guest().accessToken
            let ignored = try await photos.send(.GET, Self.path, bearer: guest, headers: ["x-immich-user-token": "x"])
            #expect(ignored.status == 204)
            expectError(try await photos.send(.GET, Self.path, bearer: other), 401, "INVALID_TOKEN")
        }
    }
}

extension APIClient.Answer {
    /// The token for the back end, if the answer has one.
    fileprivate var token: String? { headers.first(name: "x-gatehouse-token") }
}
