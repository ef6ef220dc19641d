import Accounts
import Foundation
import NIOHTTP1
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// Refusals that concern no account are counted, because anyone can cause them and they would fill the audit.
struct RefusalCountTests {
    private static let proxied = "development: true, trustedProxies: [127.0.0.1]"

    private func counted(at server: TestServer) async throws -> [JSONValue] {
        try await server.audited().filter { $0.event == "sign-in.refused" && $0.account == nil }.map(\.details)
    }

    @Test func `one event for each network, route and minute, and the chain holds`() async throws {
        try await TestServer.with(server: Self.proxied) { server in
            let client = APIClient(server)
            @Sendable func refuse(_ path: String, _ body: JSONValue, _ address: String) async throws {
                let answer = try await client.post(path, body, headers: ["x-forwarded-for": address])
                #expect([401, 403].contains(answer.status), "\(answer.text)")
            }
            let before = try await server.count("SELECT count(*) FROM audit_events")
            _ = try await atOnce(25) {
                try await refuse("/auth/refresh", ["refreshToken": "nonsense"], "203.0.113.7")
                try await refuse(
                    "/auth/login", ["email": .string(APIClient.newAddress()), "password": "wrong"], "203.0.113.7")
                try await refuse(
                    "/auth/email/otp/verify", ["challengeId": .string(UUID().uuidString), "code": "000000"],
                    "2001:db8::1")
                try await refuse("/auth/verify-email", ["token": "nonsense"], "2001:db8::2")
                try await refuse("/auth/apple", ["identityToken": "x.y.z"], "203.0.113.8")
            }
            // If a new minute has begun, the counts of the five routes may have become events.
            #expect(try await server.count("SELECT count(*) FROM audit_events") <= before + 5)
            // Refusals of the current minute are not moved.
            try await RefusalsTable(database: server.backend.database).moveToAudit()
            let rows = try await counted(at: server)
            #expect(Set(rows.map { $0["route"] }).count == 5 && (5...10).contains(rows.count), "\(rows)")
            func total(_ route: String) -> Int64 {
                rows.filter { $0["route"].string == "/api/v1/auth/\(route)" }.reduce(0) {
                    $0 + ($1["count"].integer ?? 0)
                }
            }
            for route in ["refresh", "login", "email/otp/verify", "verify-email", "apple"] {
                #expect(total(route) == 25, "\(route)")
            }
            // The networks are distinguished, and an IPv6 /64 counts as one.
            let networks = Dictionary(grouping: rows) { $0["network"] }
            #expect(networks.count == 3)
            #expect(!rows.contains { "\($0)".contains("203.0.113") || "\($0)".contains("2001:db8") })
            _ = try await counted(at: server)
            #expect(try await server.count("SELECT count(*) FROM refusals") == 0)
            try await server.awaitSealed()
            #expect(try await server.verify().events == server.count("SELECT count(*) FROM audit_events"))
        }
    }

    @Test func `one event for each client that was not authenticated, and network and minute`() async throws {
        try await TestServer.with(application: RelyingParty.configuration) { server in
            var party = RelyingParty(server)
            party.secret = "not the secret of this client, but as long"
            for client in ["web", "web", "loose", "nobody", "somebody"] {
                party.client = client
                for path in ["/oauth/token", "/oauth/introspect"] {
                    #expect(try await party.post(path, ["token": "x"]).isOAuthError(401, "invalid_client"))
                }
            }
            try await server.age("refusals", "minute", by: "1 minute")
            try await RefusalsTable(database: server.backend.database).moveToAudit()
            var counts: [String: Int64] = [:]
            for event in try await server.audited() where event.event == "client.refused" {
                counts[event.details["client"].string ?? "", default: 0] += event.details["count"].integer ?? 0
                #expect(event.account == nil && event.details["network"].string?.isEmpty == false)
            }
            #expect(counts == ["web": 4, "loose": 2, "": 4], "names that no client has are not recorded")
            #expect(try await counted(at: server).isEmpty)
        }
    }

    @Test func `replicas count together`() async throws {
        try await Replicas.with { replicas in
            let (first, second) = replicas.clients
            async let some = atOnce(20) { try await first.refresh("nonsense").status }
            async let others = atOnce(20) { try await second.refresh("nonsense").status }
            #expect(try await (some + others).allSatisfy { $0 == 401 })
            // Several concurrent calls move the refusals of the minute that is over.
            try await replicas.first.age("refusals", "minute", by: "1 minute")
            _ = try await atOnce(4) {
                try await RefusalsTable(database: replicas.first.backend.database).moveToAudit()
            }
            let rows = try await counted(at: replicas.first)
            #expect(rows.reduce(0) { $0 + ($1["count"].integer ?? 0) } == 40, "\(rows)")
            // There is one row, or two if a new minute began during the test.
            #expect(rows.count <= 2)
        }
    }

    @Test func `one event has the counts of each refusal of a route`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            for _ in 0..<3 { _ = try await client.login(APIClient.newAddress(), "wrong") }
            let locked = APIClient.newAddress()
            for _ in 0..<11 { _ = try await client.login(locked, "wrong") }
            let rows = try await counted(at: server)
            let all = rows.reduce(into: [String: Int64]()) { sum, row in
                for (name, count) in row["refusals"].object ?? [:] { sum[name, default: 0] += count.integer ?? 0 }
            }
            #expect(all == ["password": 12, "passwordLock": 1, "IDENTITY_TEMPORARILY_LOCKED": 1])
            #expect(rows.count <= 2)
        }
    }

    @Test func `refusals that concern an account stay separate events`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let pseudonym = try await server.pseudonym(of: person.uid)
            let all = try await server.audited {
                for _ in 0..<4 { _ = try await client.login(person.email, "wrong") }
            }
            #expect(all.map(\.account) == Array(repeating: pseudonym, count: 4))
            #expect(try await server.count("SELECT count(*) FROM refusals") == 0)
        }
    }
}
