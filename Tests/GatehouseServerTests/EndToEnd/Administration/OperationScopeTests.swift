import Accounts
import Administration
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Each call of operators needs its scope, and none of them answers anything personal.
struct OperationScopeTests {
    private static let reads: [(path: String, scope: AdminScope)] = [
        ("/erasures", .readServer), ("/webhooks", .readServer), ("/deliveries", .readServer),
        ("/messages", .readServer), ("/keys", .readServer), ("/configuration", .readServer),
        ("/audit", .readAudit), ("/audit/export", .readAudit), ("/audit/state", .readAudit),
    ]

    private static let acts: [(path: String, scope: AdminScope)] = [
        ("/erasures/x/retry", .eraseAccounts), ("/webhooks/x/test", .writeDeliveries),
        ("/webhooks/x/replay", .writeDeliveries), ("/deliveries/x/retry", .writeDeliveries),
        ("/messages/x/retry", .writeDeliveries), ("/keys/rotate", .writeKeys), ("/keys/x/retire", .writeKeys),
        ("/limits/search", .writeLimits), ("/limits/lift", .writeLimits),
    ]

    @Test func `a call without its scope is refused, and that is audited`() async throws {
        try await TestServer.with(admin: OperatorClient.admin) { server in
            for (path, scope) in Self.reads + Self.acts {
                let scopes = Set(AdminScope.allCases.filter { $0.isForKeys && $0 != scope })
                let lacking = try await OperatorClient.of(server, scopes)
                let isRead = Self.reads.contains { $0.path == path }
                let refused = isRead ? try await lacking.get(path) : try await lacking.act(path)
                expectError(refused, 403, "FORBIDDEN", path)
                #expect(refused.json["error"]["details"]["scope"].string == scope.rawValue)
                let having = try await OperatorClient.of(server, [scope])
                let admitted = isRead ? try await having.get(path) : try await having.act(path)
                #expect(admitted.status != 403, "\(path): \(admitted.text)")
            }
            let events = try await server.audited().filter { $0.event == "admin.refused" }
            #expect(events.count == Self.reads.count + Self.acts.count)
        }
    }

    @Test func `no list answers anything personal`() async throws {
        try await WebhookSink.with { sink in
            let hooks = "[{ url: \"\(sink.url)\", secret: \(WebhookSink.secret) }]"
            try await TestServer.with(webhooks: hooks, admin: OperatorClient.admin) { server in
                let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
                let person = try await api.register(at: server)
                let named = try await api.patch("/auth/me", ["displayName": "Ada Lovelace"], bearer: person.accessToken)
                #expect(named.status == 200)
                try await api.deleteAccount(person)
                _ = try await admin.ask("/limits/search", ["email": .string(person.email)])
                let local = String(person.email.prefix { $0 != "@" })
                for (path, _) in Self.reads {
                    let answer = try await admin.get(path)
                    #expect(answer.status == 200, "\(path): \(answer.text)")
                    for personal in [person.email, local, "Lovelace", "10.0.0.7"] {
                        #expect(!answer.text.contains(personal), "\(path): \(personal)")
                    }
                }
            }
        }
    }
}
