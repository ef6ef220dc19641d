import Foundation
import GatehouseTesting
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Clients that authenticate with signed assertions (RFC 7523; OpenID Connect Core, 9).
struct ClientAssertionTests {
    private static func configuration(_ keys: String) -> String {
        """
        openid:
          clients:
            signer:
              name: Signer
              \(keys)
              redirectURIs: ["https://signer.example/cb"]
              firstParty: true
              grants: [authorization_code, client_credentials]
              resources: ["https://api.signer.example"]
            web:
              name: Web
              secret: "\(RelyingParty.secret)"
              redirectURIs: ["\(RelyingParty.redirectURI)"]
          resources:
            "https://api.signer.example": { scopes: { read: See } }
        """
    }

    private static let issuer = "http://127.0.0.1:1"

    private static func claims(_ changes: [String: JSONValue?] = [:]) -> [String: JSONValue] {
        let now = Int64(Date().timeIntervalSince1970)
        let claims: [String: JSONValue?] = [
            "iss": "signer", "sub": "signer", "aud": .string(issuer), "jti": .string(UUID().uuidString),
            "iat": .integer(now), "exp": .integer(now + 120),
        ]
        return claims.merging(changes) { $1 }.compactMapValues { $0 }
    }

    private static func form(_ assertion: String, _ others: [String: String] = [:]) -> [String: String] {
        [
            "grant_type": "client_credentials", "client_assertion": assertion,
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        ].merging(others) { $1 }
    }

    @Test func `an assertion of the client's key authenticates once`() async throws {
        let key = try TestAuthority()
        try await TestServer.with(application: Self.configuration("jwks: '\(key.keySetText)'")) { server in
            let party = RelyingParty(server)
            func post(_ form: [String: String]) async throws -> APIClient.Answer {
                try await party.post("/oauth/token", form, isAuthenticated: false)
            }
            let endpoint = JSONValue.string("\(Self.issuer)/oauth/token")
            for audience in [.string(Self.issuer), endpoint, .array(["https://other.example", endpoint])] {
                let assertion = try key.token(Self.claims(["aud": audience]))
                #expect(try await post(Self.form(assertion)).status == 200)
                #expect(try await post(Self.form(assertion)).isOAuthError(401, "invalid_client"), "replayed")
            }
            var app = party
            (app.client, app.redirectURI) = ("signer", "https://signer.example/cb")
            for audience in [Self.issuer, "\(Self.issuer)/oauth/token", "\(Self.issuer)/oauth/par"] {
                let assertion = try key.token(Self.claims(["aud": .string(audience)]))
                let form = Self.form(assertion, app.parameters())
                let pushed = try await app.post("/oauth/par", form, isAuthenticated: false)
                #expect(pushed.status == 201, "\(audience) \(pushed.text)")
            }
            let named = try key.token(Self.claims())
            #expect(try await post(Self.form(named, ["client_id": "signer"])).status == 200)
            let now = Int64(Date().timeIntervalSince1970)
            let ahead = Self.claims(["iat": .integer(now + 3), "exp": .integer(now + 303)])
            #expect(try await post(Self.form(try key.token(ahead))).status == 200, "the client's clock is ahead")
            let wrong: [(String, [String: JSONValue?])] = [
                ("issuer", ["iss": "web"]), ("subject", ["sub": "web"]), ("no subject", ["sub": nil]),
                ("audience", ["aud": "https://other.example"]), ("expired", ["exp": .integer(now - 1)]),
                ("too long", ["exp": .integer(now + 320)]), ("no expiry", ["exp": nil]),
                ("no id", ["jti": nil]),
            ]
            for (name, changes) in wrong {
                let answer = try await post(Self.form(try key.token(Self.claims(changes))))
                #expect(answer.isOAuthError(401, "invalid_client"), "\(name)")
            }
            for attack in TokenAttack.allCases {
                let assertion = try key.token(Self.claims(), under: attack, now: Date())
                #expect(try await post(Self.form(assertion)).isOAuthError(401, "invalid_client"), "\(attack)")
            }
            let other = Self.form(try key.token(Self.claims()), ["client_id": "web"])
            #expect(try await post(other).isOAuthError(401, "invalid_client"))
            let both = Self.form(try key.token(Self.claims()), ["client_id": "signer", "client_secret": "x"])
            #expect(try await post(both).isOAuthError(400, "invalid_request"))
            let bare = ["grant_type": "client_credentials", "client_id": "signer"]
            #expect(try await post(bare).isOAuthError(401, "invalid_client"))
            let untyped = ["grant_type": "client_credentials", "client_assertion": try key.token(Self.claims())]
            #expect(try await post(untyped).isOAuthError(401, "invalid_client"))
        }
    }

    @Test func `of twenty calls with one assertion one is authenticated`() async throws {
        let key = try TestAuthority()
        try await TestServer.with(application: Self.configuration("jwks: '\(key.keySetText)'")) { server in
            let party = RelyingParty(server)
            let form = Self.form(try key.token(Self.claims()))
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await party.post("/oauth/token", form, isAuthenticated: false).status }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200] + Array(repeating: 401, count: 19))
        }
    }

    @Test func `keys are fetched from the client's URL, but not from a private host`() async throws {
        let key = try TestAuthority(.edDSA)
        try await UpstreamServer.with { upstream in
            let url = "\(upstream.url)/keys"
            upstream.service.answer(url) { _ in .json(key.keySet) }
            let configuration = Self.configuration("jwksURL: \"\(url)\"")
            try await TestServer.with(application: configuration) { server in
                let party = RelyingParty(server)
                for _ in 0..<3 {
                    let form = Self.form(try key.token(Self.claims()))
                    #expect(try await party.post("/oauth/token", form, isAuthenticated: false).status == 200)
                }
                #expect(upstream.count("/keys") == 1)
            }
            try await TestServer.with(application: configuration, network: "allowPrivateHosts: false") { server in
                let form = Self.form(try key.token(Self.claims()))
                let answer = try await RelyingParty(server).post("/oauth/token", form, isAuthenticated: false)
                #expect(answer.isOAuthError(503, "temporarily_unavailable"), "\(answer.text)")
                #expect(upstream.count("/keys") == 1)
            }
        }
    }
}
