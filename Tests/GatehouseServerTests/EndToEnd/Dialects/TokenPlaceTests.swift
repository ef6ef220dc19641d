import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Tokens of the OpenID provider and those of dialects do not work in each other's place.
struct TokenPlaceTests {
    private static let application = """
        \(RelyingParty.instances())
          paths: [blitz]
        redirectURIs: [{ uri: "\(TimeTrackerApp.redirectURI)", pkce: false }, "\(ImmichApp.redirectURI)"]
        dialects:
          timetracker: { provider: scripted, session: { idle: 10d, lifetime: 30d } }
          immich: { provider: scripted, redirectURI: "\(ImmichApp.redirectURI)" }
        """

    private func with(_ body: @Sendable @escaping (TestServer, APIClient) async throws -> Void) async throws {
        try await TestServer.with(application: Self.application, providers: "scripted: {}") { server in
            try await body(server, APIClient(server))
        }
    }

    private static let paths: [(HTTPMethod, String)] = [
        (.GET, "/auth/me"), (.GET, "/api/users/me"), (.POST, "/api/auth/validateToken"), (.GET, "/api/auth/status"),
        (.POST, "/api/auth/session/lock"), (.POST, "/api/auth/logout"),
    ]

    @Test func `the paths of dialects refuse what an installation has`() async throws {
        try await with { server, client in
            let (app, registration) = try await RelyingParty(server).install()
            _ = try await app.bind(to: client.register(at: server))
            let native = try await app.credentials("native")
            // An access token is valid, but not for these paths; anything else is unknown there.
            let secrets = [
                ("native", native["access_token"].string, 403), ("css", native["css"].string, 401),
                ("secret", app.secret, 401), ("management", registration["registration_access_token"].string, 401),
            ]
            for (name, secret, status) in secrets {
                let secret = try #require(secret, "\(name): \(native.text)")
                for (method, path) in Self.paths {
                    let answer = try await client.send(method, path, bearer: secret)
                    #expect(answer.status == status, "\(name) \(path): \(answer.text)")
                    let field = try await client.send(method, path, headers: ["x-immich-user-token": secret])
                    #expect(field.status == (path == "/auth/me" ? 401 : status), "\(name) \(path): \(field.text)")
                }
            }
            #expect(try await app.credentials("openid").status == 200, "nothing has ended")
        }
    }

    @Test func `the paths of dialects refuse the provider's access tokens and ID tokens`() async throws {
        try await with { server, client in
            let party = RelyingParty(server)
            let person = try await client.register(at: server)
            let tokens = try await party.redeem(try await party.code(cookie: party.browser(of: person)))
            for (name, status) in [("access_token", 403), ("id_token", 401)] {
                let token = try #require(tokens[name].string, "\(tokens.text)")
                for (method, path) in Self.paths {
                    let answer = try await client.send(method, path, bearer: token)
                    #expect(answer.status == status, "\(name) \(path): \(answer.text)")
                    let field = try await client.send(method, path, headers: ["x-immich-user-token": token])
                    #expect(field.status == (path == "/auth/me" ? 401 : status), "\(name) \(path): \(field.text)")
                }
                // The dialect that answers a dead token's sign-out with 200 ends nothing.
                _ = try await client.send(.POST, "/auth/logout", bearer: token)
                let isActive = try await party.isActive(tokens["access_token"].string ?? "")
                #expect(isActive, "\(name)")
            }
        }
    }

    @Test func `the provider refuses session bearers`() async throws {
        try await with { server, client in
            let app = ImmichApp(api: client)
            let bearer = try await app.token(at: server)
            #expect(bearer.hasPrefix("ghs_"))
            for endpoints in [RelyingParty.Endpoints(), .blitz] {
                var party = RelyingParty(server)
                party.endpoints = endpoints
                let refused = try await party.userInfo(bearer)
                #expect(refused.isOAuthError(401, "invalid_token"), "\(endpoints.userInfo): \(refused.text)")
                let refresh = try await party.refresh(bearer)
                #expect(refresh.isOAuthError(400, "invalid_grant"), "\(endpoints.token): \(refresh.text)")
            }
            #expect(try await app.call(.GET, "/users/me", token: bearer).status == 200)
        }
    }
}
