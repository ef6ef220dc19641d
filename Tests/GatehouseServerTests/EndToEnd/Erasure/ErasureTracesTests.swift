import Accounts
import Administration
import Foundation
import HTTPAPI
import ProviderKit
import Storage
import Synchronization
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
                #expect(try await server.count(Self.exactTimes) == 0)
                #expect(try await server.count(Self.exactIDs) == 0)
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

    @Test func `merged accounts, removed identities and late acknowledgements leave no exact times either`()
        async throws
    {
        let works = Mutex(false)
        try await WebhookSink.with { post, _ in
            post.kind == "identity.unlinked" || works.withLock { $0 } ? .status(204) : .status(500)
        } _: { sink in
            let hooks = "[\(sink.entry("account.deleted", "account.merged", "identity.unlinked"))]"
            try await TestServer.with(
                application: "deletion: { webhookDeadline: 0s }", providers: "scripted: {}", webhooks: hooks
            ) { server in
                let client = APIClient(server)
                let person = try await client.register(at: server)
                let removed = VerifiedIdentity.somebody("ada").holding("token-\(UUID().uuidString)")
                _ = try await client.link(removed, bearer: person.accessToken)
                let id = try await client.identityID(of: "scripted", bearer: person.accessToken)
                #expect(try await client.delete("/auth/identities/\(id)", bearer: person.accessToken).status == 200)

                // The other account is deleted and restored before it is merged, and its token cannot be revoked.
                let token = "token-\(UUID().uuidString)"
                ScriptedProvider.refused.withLock { _ = $0.insert(token) }
                let other = VerifiedIdentity.somebody("eve").holding(token)
                let absorbed = try Person(try await client.present(other), email: "", password: "")
                try await client.deleteAccount(absorbed)
                let restored = try await server.backend.store.restore(
                    #require(UUID(uuidString: absorbed.uid)), details: [:], application: server.application().id)
                #expect(restored != nil)
                let ticket = try await client.ticket(other, bearer: person.accessToken)
                let merged = try await client.merge(ticket, bearer: person.accessToken)
                try #require(merged["merge"]["survivor"].string == person.uid, "\(merged.text)")
                try await eventually("the removed identity is settled, and the merge fails") {
                    try await server.count(Self.settled) == 2 && !sink.posts(of: "account.merged").isEmpty
                }

                let location = try await client.deleteAccount(person)
                #expect(try await server.count(Self.joined) > 0)
                guard case .erased = try await server.erase(person.uid) else {
                    Issue.record("it waited")
                    return
                }
                #expect(try await server.count(Self.waiting) == 2, "the deletion and the merge")
                works.withLock { $0 = true }
                ScriptedProvider.refused.withLock { _ = $0.remove(token) }
                try await eventually("the deletion is acknowledged and the token revoked") {
                    try await server.execute(
                        "UPDATE token_revocations SET due_at = now() WHERE leased_until IS NULL AND revoked_at IS NULL")
                    try await server.execute(
                        """
                        UPDATE webhook_deliveries SET due_at = now()
                         WHERE leased_until IS NULL AND acknowledged_at IS NULL AND failed_at IS NULL
                        """)
                    // Two revocations and the deletion; the events of other kinds are gone.
                    guard try await server.count(Self.ofOtherKinds) == 0 else { return false }
                    return try await server.count(Self.settled) == 3
                }
                #expect(try await server.count(Self.joined) == 0)
                #expect(try await server.count(Self.exactTimes) == 0)
                #expect(try await server.count(Self.exactIDs) == 0)
                #expect(try await server.count("SELECT count(session_id) FROM erasures") == 0)
                #expect(try await server.count("SELECT count(*) FROM token_revocations WHERE identity_id <> id") == 0)
                #expect(
                    try await server.count("SELECT count(*) FROM token_revocations WHERE NOT is_of_erasure") == 1,
                    "that of the removed identity is deleted after a month")
                #expect(sink.posts(of: "account.merged").last?.data["survivor"].string == person.uid)
                let processors = try await client.erasure(location)["processors"].array ?? []
                #expect(processors.map { $0["name"] } == ["127.0.0.1", "scripted"])
                #expect(processors.allSatisfy { $0["status"] == "acknowledged" })
            }
        }
    }

    /// Counts the deliveries that are acknowledged and the tokens that are revoked.
    private static let settled: StaticString = """
        SELECT (SELECT count(*) FROM webhook_deliveries WHERE acknowledged_at IS NOT NULL)
               + (SELECT count(*) FROM token_revocations WHERE revoked_at IS NOT NULL)
        """

    /// Counts the events that may have other ids of the audit, as `account.merged` has the id of the merge.
    private static let ofOtherKinds: StaticString =
        "SELECT count(*) FROM webhook_deliveries WHERE kind <> 'account.deleted'"

    /// Counts the events that are given up no sooner than those that are queued now.
    private static let waiting: StaticString = """
        SELECT count(*) FROM webhook_deliveries
         WHERE acknowledged_at IS NULL AND failed_at IS NULL AND requeued_at > now()
        """

    private static let exactTimes: StaticString = """
        SELECT count(*) FROM (
            SELECT requested_at AS at FROM erasures UNION ALL SELECT restored_at FROM erasures
            UNION ALL SELECT began_at FROM erasures
            UNION ALL SELECT created_at FROM webhook_deliveries WHERE kind <> 'account.erased'
            UNION ALL SELECT acknowledged_at FROM webhook_deliveries WHERE kind <> 'account.erased'
            UNION ALL SELECT requeued_at FROM webhook_deliveries WHERE kind <> 'account.erased'
            UNION ALL SELECT created_at FROM token_revocations
            UNION ALL SELECT revoked_at FROM token_revocations) AS t
         WHERE at <> date_trunc('day', at, 'UTC')
        """

    private static let exactIDs: StaticString = """
        SELECT count(*) FROM webhook_deliveries
         WHERE kind <> 'account.erased'
           AND ('x' || left(replace(event_id::text, '-', ''), 12))::bit(48)::bigint % 86400000 <> 0
        """

    /// Counts the events whose account could be linked to a `uid` because both have the same time in another table.
    private static let joined: StaticString = """
        SELECT count(*)
          FROM audit_events d
          JOIN (SELECT uid, requested_at AS at FROM erasures
                UNION ALL SELECT uid, restored_at FROM erasures
                UNION ALL SELECT uid, created_at FROM webhook_deliveries
                UNION ALL SELECT uid, created_at FROM token_revocations) AS known ON known.at = d.at
         WHERE d.account IS NOT NULL
        """
}
