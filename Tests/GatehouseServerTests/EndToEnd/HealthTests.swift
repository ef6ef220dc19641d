import Accounts
import Delivery
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Health checks and metrics.
struct HealthTests {
    @Test func `a server with its database is live and ready`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            for path in ["/health/live", "/health/ready"] {
                let answer = try await client.send(.GET, path)
                #expect(answer.status == 200, "\(path) \(answer.text)")
            }
        }
    }

    @Test func `a schema that is not this server's makes it unready`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            try await server.execute("ALTER TABLE gatehouse_migrations RENAME TO away")
            // Results are reused for up to a second.
            try await eventually("it is unready") {
                let answer = try await client.send(.GET, "/health/ready")
                return answer.status == 503 && answer.retryAfter != nil
            }
            #expect(try await client.send(.GET, "/health/live").status == 200)
            try await server.execute("ALTER TABLE away RENAME TO gatehouse_migrations")
            try await eventually("it is ready again") { try await client.send(.GET, "/health/ready").status == 200 }
        }
    }

    @Test func `a flood of probes causes few database checks`() async throws {
        try await HotPathStage.with { stage in
            _ = try await stage.client.send(.GET, "/health/ready")
            let began = ContinuousClock.now
            let (answers, statements) = try await stage.observed.log.statements {
                try await atOnce(200) { try await stage.client.send(.GET, "/health/ready").status }
            }
            let seconds = Int((ContinuousClock.now - began) / .seconds(1)) + 2
            #expect(answers.allSatisfy { $0 == 200 })
            // Each check sends two statements.
            #expect(statements.count { $0.contains("gatehouse_migrations") } <= 2 * seconds, "\(statements)")
        }
    }

    @Test func `the metrics are Prometheus text and count requests by route`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let guest = try await client.guest()
            _ = try await client.get("/auth/me", bearer: guest.accessToken)
            _ = try await client.delete("/auth/sessions/\(UUID())", bearer: guest.accessToken)
            _ = try await client.send(.PROPFIND, "/nothing/secret")
            let answer = try await client.send(.GET, "/metrics")
            #expect(answer.status == 200)
            #expect(answer.headers.first(name: "content-type")?.hasPrefix("text/plain; version=0.0.4") == true)
            var types: [String: String] = [:]
            let sample =
                /([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-zA-Z_][a-zA-Z0-9_]*="(\\.|[^"\\])*",?)*\})? ([-+]?[0-9.]+(e[-+]?[0-9]+)?|NaN|[-+]Inf)/
            for line in answer.text.split(separator: "\n") {
                if let match = line.wholeMatch(of: /# TYPE ([a-z_]+) (gauge|counter|histogram)/) {
                    #expect(types.updateValue(String(match.output.2), forKey: String(match.output.1)) == nil, "\(line)")
                } else if !line.hasPrefix("# HELP ") {
                    let match = try #require(try sample.wholeMatch(in: line), "\(line)")
                    let name = String(match.output.1)
                    let family = name.replacing(/_(bucket|sum|count)$/, with: "")
                    #expect(types[name] != nil || types[family] == "histogram", "\(line)")
                }
            }
            #expect(types["gatehouse_http_request_duration_seconds"] == "histogram")
            #expect(answer.text.contains(#"_count{method="GET",route="/api/v1/auth/me",status="200"} 1"#))
            #expect(answer.text.contains(#"route="/api/v1/auth/sessions/{id}",status="404""#))
            #expect(!answer.text.contains("secret") && !answer.text.contains(guest.uid))
            #expect(answer.text.hasSuffix("\n"))
        }
    }
}
