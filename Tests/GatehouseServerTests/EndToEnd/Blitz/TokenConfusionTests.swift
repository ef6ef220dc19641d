import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// A token or secret of one kind is refused in every place of another kind.
struct TokenConfusionTests {
    private enum Kind: String, CaseIterable {
        case sessionBearer
        case identityToken, accessToken, refreshToken, css, instanceSecret, managementToken, initialToken, qrToken
        case restToken, restRefreshToken, qrCode
        case nativeToken
    }

    /// Where tokens are presented, and the kinds that are good there.
    private enum Place: String, CaseIterable {
        case userInfo, rest, qr, management, registration, clientSecret, code, refreshToken, cookie, restRefresh
        case introspection
        case timeTracker, immich, immichField

        var own: Set<Kind> {
            switch self {
            case .userInfo: [.accessToken]
            case .rest, .timeTracker, .immich, .immichField: [.restToken, .sessionBearer]
            case .qr: [.restToken, .qrToken, .sessionBearer]
            case .management: [.managementToken]
            case .registration: [.initialToken]
            case .clientSecret: [.instanceSecret]
            case .code: []
            case .refreshToken: [.refreshToken]
            case .cookie: [.css]
            case .restRefresh: [.restRefreshToken]
            case .introspection: [.accessToken, .refreshToken, .qrToken, .nativeToken]
            }
        }
    }

    private struct World: Sendable {
        let server: TestServer
        let app: BlitzApp
        let instance: BlitzApp.Instance
        let secrets: [Kind: String]

        init(_ server: TestServer) async throws {
            (self.server, app) = (server, BlitzApp(server))
            let person = try await app.api.register(at: server)
            let signedIn = try await app.signIn(person, ["access_type": "offline"])
            instance = signedIn.instance
            var desktop = PageBrowser(server)
            let native = try await app.native(instance)
            secrets = [
                .identityToken: signedIn.tokens.idToken, .accessToken: signedIn.tokens.accessToken,
                .refreshToken: try #require(signedIn.tokens.refreshToken),
                .css: native.css, .instanceSecret: instance.clientSecret,
                .managementToken: instance.registrationAccessToken, .initialToken: BlitzApp.initialAccessToken,
                .qrToken: try await app.scanningToken(instance), .restToken: person.accessToken,
                .restRefreshToken: person.refreshToken,
                .sessionBearer: try #require(
                    try await ImmichApp(api: app.api).login(person.email)["accessToken"].string),
                .qrCode: try await desktop.showQRCode(of: RelyingParty(server)).code,
                .nativeToken: native.accessToken,
            ]
        }

        /// Whether the place takes the secret, and its answer.
        func present(_ secret: String, at place: Place) async throws -> (isTaken: Bool, answer: String) {
            func bearer(_ method: HTTPMethod, _ url: String) async throws -> (Bool, String) {
                let answer = try await app.send(method, url, ["Authorization": "Bearer \(secret)"])
                #expect([200, 401, 403].contains(answer.status), "\(answer.status) \(answer.text)")
                return (answer.status == 200, "\(answer.status) \(answer.text)")
            }
            func form(_ path: String, _ fields: [String: String]) async throws -> BlitzApp.Answer {
                try await app.send(
                    .POST, app.host + path,
                    [
                        "Authorization": instance.authorization,
                        "Content-Type": "application/x-www-form-urlencoded",
                    ], body: RelyingParty.encoded(fields))
            }
            let answer: BlitzApp.Answer
            switch place {
            case .userInfo: return try await bearer(.GET, app.host + "/blitz/oauth/me")
            case .rest: return try await bearer(.GET, app.host + "/api/v1/auth/me")
            case .timeTracker: return try await bearer(.GET, app.host + "/auth/me")
            case .immich: return try await bearer(.GET, app.host + "/api/users/me")
            case .immichField:
                let answer = try await app.send(.GET, app.host + "/api/users/me", ["x-immich-user-token": secret])
                #expect([200, 401, 403].contains(answer.status), "\(answer.status) \(answer.text)")
                return (answer.status == 200, "\(answer.status) \(answer.text)")
            case .qr:
                // A token that may answer learns that there is no such code.
                let unknown = UUID().uuidString.lowercased()
                let answer = try await app.look(at: unknown, secret)
                #expect([401, 403, 404].contains(answer.status), "\(answer.status) \(answer.text)")
                return (answer.status == 404, "\(answer.status) \(answer.text)")
            case .management: return try await bearer(.GET, instance.registrationClientUri)
            case .registration: answer = try await app.registration(token: secret)
            case .clientSecret:
                var other = instance
                other.clientSecret = secret
                answer = try await app.relogin(other, scope: "profile")
            case .code:
                answer = try await form(
                    "/blitz/oauth/te",
                    [
                        "grant_type": "authorization_code", "code": secret, "redirect_uri": BlitzApp.privateURI,
                        "code_verifier": String(repeating: "v", count: 43),
                    ])
            case .refreshToken:
                answer = try await form(
                    "/blitz/oauth/te", ["grant_type": "refresh_token", "refresh_token": secret])
            case .cookie:
                var party = RelyingParty(server)
                party.endpoints = .blitz
                let answer = try await party.authorize(["prompt": "none"], cookie: "css=\(secret)")
                return (answer.returned("code") != nil, "\(answer.headers)")
            case .restRefresh:
                let answer = try await app.api.refresh(secret)
                return (answer.status == 200, answer.text)
            case .introspection:
                let answer = try await app.introspection(of: secret, by: instance)
                return (answer.text.contains("\"active\":true"), answer.text)
            }
            #expect([200, 201, 400, 401].contains(answer.status), "\(answer.status) \(answer.text)")
            return (answer.status < 300, "\(answer.status) \(answer.text)")
        }
    }

    private static let dialects = """
        redirectURIs: [{ uri: "\(TimeTrackerApp.redirectURI)", pkce: false }]
        dialects: { timetracker: { provider: hosted }, immich: {} }
        """

    @Test func `each kind is refused at the places of the others, and still works at its own`() async throws {
        try await TestServer.with(application: BlitzApp.configuration() + "\n" + Self.dialects) { server in
            let world = try await World(server)
            for place in Place.allCases {
                for (kind, secret) in world.secrets where !place.own.contains(kind) {
                    let (isTaken, answer) = try await world.present(secret, at: place)
                    #expect(!isTaken, "\(kind) at \(place): \(answer)")
                }
            }
            for place in Place.allCases {
                // A refresh uses its token up, so introspection comes first.
                for kind in place.own where ![.refreshToken, .restRefreshToken].contains(kind) {
                    let (isTaken, answer) = try await world.present(world.secrets[kind] ?? "", at: place)
                    #expect(isTaken, "\(kind) at \(place): \(answer)")
                }
            }
            for (kind, place) in [(Kind.refreshToken, Place.refreshToken), (.restRefreshToken, .restRefresh)] {
                let (isTaken, answer) = try await world.present(world.secrets[kind] ?? "", at: place)
                #expect(isTaken, "\(kind) at \(place): \(answer)")
            }
        }
    }
}
