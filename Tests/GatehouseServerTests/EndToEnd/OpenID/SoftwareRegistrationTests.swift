import Foundation
import GatehouseTesting
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Installations of apps, which register with an initial access token and a software statement (RFC 7591, 2.3).
struct SoftwareRegistrationTests {
    @Test func `an installation gets an id, a secret and a token of its own`() async throws {
        try await TestServer.with(application: RelyingParty.software()) { server in
            let party = RelyingParty(server)
            let (one, two) = (try await party.registerInstance(), try await party.registerInstance())
            #expect(one.status == 201 && one.headers.first(name: "cache-control") == "no-store", "\(one.text)")
            let id = one["client_id"].string ?? ""
            #expect(id.hasPrefix("dyn~CSI~") && UUID(uuidString: String(id.dropFirst(8))) != nil)
            #expect(one["client_secret"].string?.utf8.count == 43 && one["client_secret_expires_at"] == 0)
            #expect(one["registration_client_uri"].string == "http://127.0.0.1:1/oauth/register/\(id)")
            #expect(one["software_id"] == "CSI" && one["software_version"] == "1" && one["device_type"] == "iphone")
            #expect(one["scope"] == "openid profile native blitz_qr_auth")
            #expect(one["redirect_uris"] == [.string(RelyingParty.appURI), "https://app.example/cb"])
            #expect(one["grant_types"] == ["authorization_code", "client_credentials", "refresh_token"])
            #expect(one["response_types"] == ["code"] && one["token_endpoint_auth_method"] == "client_secret_basic")
            let issued = try #require(one["client_id_issued_at"].integer)
            #expect(abs(Date().timeIntervalSince1970 - Double(issued)) < 600)
            for name in ["client_id", "client_secret", "registration_access_token"] {
                #expect(one[name] != two[name] && one[name] != .null, "\(name)")
            }
            #expect(one["device_name"] == .null)
            let named = try await party.registerInstance(["device_name": "Ada's phone", "device_type": "tricorder_7-x"])
            #expect(named["device_name"] == "Ada's phone" && named["device_type"] == "tricorder_7-x")
            let events =
                try await server.text(
                    "SELECT string_agg(details::text, ' ') FROM audit_events WHERE event = 'client.registered'") ?? ""
            #expect(events.contains(id) && events.contains(#""software": "CSI""#))
            let stored = try await server.text("SELECT string_agg(c::text, ' ') FROM clients c") ?? ""
            for name in ["client_secret", "registration_access_token"] {
                #expect(!stored.contains(one[name].string ?? "none"), "\(name)")
            }
        }
    }

    @Test func `a wrong token, software, statement or device is refused`() async throws {
        try await TestServer.with(application: RelyingParty.software()) { server in
            let party = RelyingParty(server)
            let other = "another \(RelyingParty.softwareToken)"
            let missing = try await party.registerInstance(token: nil)
            #expect(missing.isOAuthError(401, "invalid_token"))
            #expect(missing.headers.first(name: "www-authenticate") == "Bearer")
            let wrong = try await party.registerInstance(token: RelyingParty.initialToken)
            #expect(wrong.isOAuthError(401, "invalid_token"))
            #expect(wrong.headers.first(name: "www-authenticate") == "Bearer error=\"invalid_token\"")
            #expect(try await party.registerInstance(token: other).isOAuthError(400, "invalid_software_statement"))
            for id: JSONValue in ["nothing", "csi", 7, .null, .string(String(repeating: "C", count: 50_000))] {
                let answer = try await party.registerInstance(["software_id": id])
                #expect(answer.isOAuthError(400, "invalid_software_statement"), "\(answer.text)")
            }
            #expect(try await party.registerInstance(["software_id": "nothing"], token: nil).status == 401)
            for type: JSONValue in ["", "a b", "é", .null, 7, .string(String(repeating: "x", count: 33))] {
                let answer = try await party.registerInstance(["device_type": type])
                #expect(answer.isOAuthError(400, "invalid_client_metadata"), "\(answer.text)")
            }
            for name: JSONValue in [7, "a\u{202E}b", "a\nb", .string(String(repeating: "x", count: 65))] {
                let answer = try await party.registerInstance(["device_name": name])
                #expect(answer.isOAuthError(400, "invalid_client_metadata"), "\(answer.text)")
            }
            for statement: JSONValue in [.null, 7] {
                let answer = try await party.registerInstance(["software_statement": statement])
                #expect(answer.isOAuthError(400, "invalid_software_statement"), "\(answer.text)")
            }
            for statement in ["", RelyingParty.statement + " ", "another statement", "a.b.c"] {
                let answer = try await party.registerInstance(["software_statement": .string(statement)])
                #expect(answer.isOAuthError(400, "unapproved_software_statement"), "\(answer.text)")
            }
            #expect(try await server.count("SELECT count(*) FROM clients") == 0)
        }
    }

    @Test func `a signed statement may narrow the configuration, and no more`() async throws {
        let (key, stranger) = (try TestAuthority(), try TestAuthority())
        let issuer = "statementIssuer: { issuer: \"https://mdm.example\", jwks: '\(key.keySetText)' }"
        try await TestServer.with(application: RelyingParty.software(issuer)) { server in
            let party = RelyingParty(server)
            let now = Int64(Date().timeIntervalSince1970)
            let claims: [String: JSONValue] = ["iss": "https://mdm.example", "software_id": "CSI"]
            func send(_ statement: String) async throws -> APIClient.Answer {
                try await party.registerInstance(["software_statement": .string(statement)])
            }
            func signed(_ changes: [String: JSONValue]) throws -> String {
                try key.token(claims.merging(changes) { $1 })
            }
            let whole = try await send(try signed([:]))
            #expect(whole.status == 201 && whole["redirect_uris"].array?.count == 2, "\(whole.text)")
            let narrow = try await send(
                try signed([
                    "redirect_uris": [.string(RelyingParty.appURI)], "scope": "profile openid",
                    "exp": .integer(now + 600), "aud": "http://127.0.0.1:1",
                ]))
            #expect(narrow["redirect_uris"] == [.string(RelyingParty.appURI)], "\(narrow.text)")
            #expect(narrow["scope"] == "openid profile")
            #expect(try await party.manage(.GET, narrow)["scope"] == "openid profile")
            #expect(try await send(RelyingParty.statement).status == 201)
            let invalid = [
                try stranger.token(claims), try signed(["iss": "https://other.example"]),
                try signed(["exp": .integer(now - 60)]), try signed(["nbf": .integer(now + 600)]),
                try signed(["aud": "https://other.example"]), "text",
            ]
            for statement in invalid {
                #expect(try await send(statement).isOAuthError(400, "invalid_software_statement"), "\(statement)")
            }
            let outside: [[String: JSONValue]] = [
                ["software_id": "other"], ["software_id": .null], ["redirect_uris": ["https://app.example/cb2"]],
                ["redirect_uris": []], ["redirect_uris": "https://app.example/cb"], ["scope": "openid email"],
                ["scope": ""], ["scope": ["openid"]],
            ]
            for changes in outside {
                let answer = try await send(try signed(changes))
                #expect(answer.isOAuthError(400, "unapproved_software_statement"), "\(changes) \(answer.text)")
            }
        }
    }

    @Test func `the management token of an installation reads and deletes it, and nothing else does`() async throws {
        try await TestServer.with(application: RelyingParty.software()) { server in
            let party = RelyingParty(server)
            let (one, two) = (try await party.registerInstance(), try await party.registerInstance())
            let shown = try await party.manage(.GET, one)
            #expect(shown.status == 200 && shown["client_secret"] == .null, "\(shown.text)")
            #expect(shown.json.keys.union(["client_secret"]) == one.json.keys)
            for name in shown.json.keys { #expect(shown[name] == one[name], "\(name)") }
            #expect(try await party.manage(.PUT, one).isOAuthError(400, "invalid_request"))
            for method: HTTPMethod in [.GET, .PUT, .DELETE] {
                for token in [two["registration_access_token"].string, "x", RelyingParty.softwareToken] {
                    let answer = try await party.manage(method, one, token: token)
                    #expect(answer.isOAuthError(401, "invalid_token"), "\(method)")
                }
                let none = try await party.api.send(method, "/oauth/register/dyn~CSI~\(UUID().uuidString)", bearer: "x")
                #expect(none.isOAuthError(401, "invalid_token"))
            }
            let statuses = try await atOnce(20) { try await party.manage(.DELETE, one).status }
            #expect(statuses.sorted() == [204] + Array(repeating: 401, count: 19))
            #expect(try await party.manage(.GET, one).isOAuthError(401, "invalid_token"))
            let client = try party.registered(one)
            #expect(
                try await client.post("/oauth/token", ["grant_type": "client_credentials"])
                    .isOAuthError(401, "invalid_client"))
            #expect(try await party.manage(.GET, two).status == 200)
            let events = try await server.count("SELECT count(*) FROM audit_events WHERE event = 'client.deleted'")
            #expect(events == 1)
            try await server.age("clients", "expires_at", by: "2 minutes", where: "deleted_at IS NOT NULL")
            _ = try await server.sweep()
            #expect(try await server.count("SELECT count(*) FROM clients") == 1)
        }
    }

    @Test func `an installation without a sign-in within an hour is gone`() async throws {
        try await TestServer.with(application: RelyingParty.software()) { server in
            let party = RelyingParty(server)
            let answer = try await party.registerInstance()
            let client = try party.registered(answer)
            #expect(try await client.authorize(cookie: nil).status == 303)
            try await server.age("clients", "created_at", "expires_at", by: "61 minutes")
            #expect(try await client.authorize(cookie: nil).status == 400)
            #expect(try await party.manage(.GET, answer).status == 401)
            _ = try await server.sweep()
            #expect(try await server.count("SELECT count(*) FROM clients") == 0)
        }
    }

    @Test func `a thousand unused installations are registered from one network in an hour`() async throws {
        let proxied = "development: true, trustedProxies: [127.0.0.1]"
        try await TestServer.with(server: proxied, application: RelyingParty.software()) { server in
            let party = RelyingParty(server)
            @Sendable func register(from address: String = "192.0.2.1") async throws -> APIClient.Answer {
                try await party.registerInstance(headers: ["x-forwarded-for": address])
            }
            #expect(try await register().status == 201)
            try await server.execute(
                """
                INSERT INTO clients (application_id, client_id, issuer, metadata, secret_hash, registration_hash, software,
                                     device_type, quota, slot, expires_at)
                SELECT application_id, 'dyn~CSI~' || number, issuer, metadata, secret_hash, registration_hash, software,
                       device_type, quota, number, expires_at
                  FROM clients, generate_series(0, 999) AS number
                 WHERE number <> clients.slot AND number NOT IN (
                       SELECT n FROM generate_series(0, 999) AS n
                        WHERE n <> clients.slot ORDER BY n LIMIT 3)
                """)
            #expect(try await server.count("SELECT count(*) FROM clients") == 997)
            let statuses = try await atOnce(20) { try await register().status }
            #expect(statuses.count { $0 == 201 } == 3 && statuses.count { $0 == 503 } == 17, "\(statuses)")
            let refused = try await register()
            #expect(refused.isOAuthError(503, "temporarily_unavailable") && refused.retryAfter != nil)
            #expect(try await register(from: "198.51.100.1").status == 201)
            try await server.age(
                "clients", "created_at", by: "61 minutes", where: "slot < 5 AND client_id LIKE 'dyn~%'")
            #expect(try await register().status == 201)
        }
    }

    @Test func `two installations are registered at once after a thousand unused ones have become old`() async throws {
        try await TestServer.with(application: RelyingParty.software()) { server in
            let party = RelyingParty(server)
            let first = try await party.registerInstance()
            try await server.execute(
                """
                INSERT INTO clients (application_id, client_id, issuer, metadata, secret_hash, registration_hash, software,
                                     device_type, quota, slot, expires_at)
                SELECT application_id, 'dyn~CSI~' || number, issuer, metadata, secret_hash, registration_hash, software,
                       device_type, quota, number, expires_at
                  FROM clients, generate_series(0, 999) AS number
                 WHERE number <> clients.slot
                """)
            #expect(try await party.registerInstance().isOAuthError(503, "temporarily_unavailable"))
            try await server.age("clients", "created_at", by: "61 minutes")
            // Each of them frees all slots, or waits until the other has freed them.
            let (one, two) = try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(Self.lockClient, .text(first["client_id"].string))
                let one = Task { try await party.registerInstance() }
                try await server.awaitBlocked(1)
                let two = Task { try await party.registerInstance() }
                try await server.awaitBlocked(2)
                return (one, two)
            }
            for answer in try await [one.value, two.value] { #expect(answer.status == 201, "\(answer.text)") }
        }
    }

    private static let lockClient = Statement(
        .write, "SELECT client_id FROM clients WHERE application_id = 1 AND client_id = $1 FOR UPDATE")

    @Test func `each application and each of its installations is apart`() async throws {
        let photos = """
              photos:
                hosts: [photos.example]
                \(RelyingParty.software().replacing("\n", with: "\n    "))
                providers: { email: { enabled: true, verificationLink: "https://photos.example/verify" } }
            """
        try await TestServer.with(application: RelyingParty.software(), others: photos) { server in
            let (here, there) = (RelyingParty(server), RelyingParty(server, application: "photos"))
            let answer = try await here.registerInstance()
            let id = answer["client_id"].string ?? ""
            let token = answer["registration_access_token"].string
            #expect(try await there.api.send(.GET, "/oauth/register/\(id)", bearer: token).status == 401)
            var client = there
            (client.client, client.secret) = (id, answer["client_secret"].string)
            let grant = ["grant_type": "client_credentials"]
            #expect(try await client.post("/oauth/token", grant).isOAuthError(401, "invalid_client"))
        }
    }
}
