import Accounts
import Administration
import Foundation
import HTTPAPI
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// Audit events are kept after an erasure, but nothing links them to the account's `uid`.
struct ErasureTracesTests {
    @Test func `the remaining data of an erasure contains only its day`() async throws {
        try await WebhookSink.with { sink in
            try await TestServer.with(
                webhooks: "[\(sink.entry("account.created", "account.deleted", "account.restored", "account.erased"))]"
            ) { server in
                let client = APIClient(server)
                let person = try await client.register(at: server)
                // Deletes and restores the account once, so that a cancelled erasure remains as well.
                _ = try await client.deleteAccount(person)
                // What is not acknowledged is withdrawn when the account is restored.
                try await eventually("the deletion is acknowledged") {
                    try await server.count(
                        "SELECT count(*) FROM webhook_deliveries WHERE acknowledged_at IS NOT NULL AND kind = 'account.deleted'"
                    ) == 1
                }
                let uid = try #require(UUID(uuidString: person.uid))
                let restored = try await server.backend.store.restore(
                    uid, details: [:], application: server.application().id)
                #expect(restored != nil)
                let receipt = try await server.acts.delete(
                    uid, by: TestServer.operations, in: server.application()
                ).receipt
                try await eventually("it is acknowledged") {
                    try await server.count(
                        "SELECT count(*) FROM webhook_deliveries WHERE acknowledged_at IS NOT NULL AND kind = 'account.deleted'"
                    ) == 2
                }
                #expect(try await server.count(Self.joined) > 0)
                try await server.erase(person.uid)
                #expect(try await server.count(Self.joined) == 0)
                let times = try await server.count(
                    """
                    SELECT count(*) FROM (
                        SELECT requested_at AS at FROM erasures UNION ALL SELECT restored_at FROM erasures
                        UNION ALL SELECT began_at FROM erasures
                        UNION ALL SELECT created_at FROM webhook_deliveries WHERE kind <> 'account.erased'
                        UNION ALL SELECT acknowledged_at FROM webhook_deliveries WHERE kind <> 'account.erased') AS t
                     WHERE at <> date_trunc('day', at, 'UTC')
                    """)
                #expect(times == 0)
                let ids = try await server.count(
                    """
                    SELECT count(*) FROM webhook_deliveries
                     WHERE kind <> 'account.erased'
                       AND ('x' || left(replace(event_id::text, '-', ''), 12))::bit(48)::bigint % 86400000 <> 0
                    """)
                #expect(ids == 0)
                let answer = try await client.erasure("/api/v1/erasures/\(receipt.text)")
                #expect(answer["requestedAt"].string?.hasSuffix("T00:00:00.000Z") == true)
                #expect(
                    answer["processors"].array?.first?["acknowledgedAt"].string?.hasSuffix("T00:00:00.000Z") == true)
                let certificate = try DecodedToken(answer["certificate"].string ?? "")
                #expect(certificate.claims["processors"] == answer["processors"])
                #expect(certificate.claims["requestedAt"] == answer["requestedAt"])
            }
        }
    }

    /// Counts the events whose account could be linked to a `uid` because both have the same time in another table.
    private static let joined: StaticString = """
        SELECT count(*)
          FROM audit_events d
          JOIN (SELECT uid, requested_at AS at FROM erasures
                UNION ALL SELECT uid, restored_at FROM erasures
                UNION ALL SELECT uid, created_at FROM webhook_deliveries) AS known ON known.at = d.at
         WHERE d.account IS NOT NULL
        """
}
