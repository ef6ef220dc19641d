import Accounts
import Foundation
import Postgres
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// A new column of a table that is exported must be in the export too, or be named here with the reason why not.
struct ExportedColumnTests {
    private static let leftOut = [
        "*.application_id": "the export is one application's", "*.uid": "said once, or an alias's of the same person",
        "*.due_at": "the server's own schedule", "*.leased_until": "the server's own schedule",
        "*.attempts": "how often the server has tried", "*.failure": "the server's own words for its log",
        "*.sealed": "a secret", "*.hash": "made of a secret", "*.challenge_id": "opens a challenge",
        "accounts.audit_key": "a secret", "accounts.absorbed_by": "of an alias, the account that this is of",
        "identities.seen_at": "repeats when the sessions were last seen",
        "token_revocations.id": "the server's own name for it",
        "token_revocations.is_of_erasure": "how long the row stays",
        "sessions.resumes": "which of the person's sessions asked for it",
        "registrations.is_decoy": "tells whether somebody else has the address",
        "registrations.on_conflict": "what is to happen when it is confirmed",
        "proofs.registration_id": "the pending registration that it confirms",
        "proofs.session_id": "the session that began it", "proofs.identity_id": "the identity whose address changes",
        "proofs.address_kind": "told by the address",
        "merges.parked": "ids among the aliases' identities", "merges.address_kinds": "told by the addresses",
        "merges.filled": "what the account took over, which it shows",
        "erasures.began_at": "the server's own schedule", "erasures.look_again_at": "the server's own schedule",
        "erasures.certificate": "there once the account is not", "webhook_deliveries.webhook": "may hold a secret",
        "audit_events.account": "the pseudonym", "audit_events.batch": "which seal it has",
        "audit_events.inserted_at": "when it was written down, as good as its time",
    ]

    @Test func `every column of an exported table is exported, or left out for a reason`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let uid = try #require(UUID(uuidString: person.uid))
            try await ExportSeed(uid: uid).plant(at: server)
            let application = try await server.application().id
            for (table, name) in ExportedTables.sections {
                var told: Set<String> = []
                if let section = PersonalDataSection(rawValue: name) {
                    let row = try await server.backend.store.personalData(
                        section, of: uid, application: application, after: nil, atMost: 1
                    ).first
                    let columns = try #require(row, "\(table)").columns
                    told = Set(try JSONDecoder().decode(JSONValue.self, from: Data(columns.utf8)).keys)
                } else {
                    let events = try await client.get("/auth/account/export", bearer: person.accessToken)[name]
                    let keys = events.array?.flatMap(\.keys) ?? []
                    told = Set(keys.map { $0 == "session" ? "session_id" : $0 })
                }
                let missing = try await columns(of: table, at: server).subtracting(told).filter {
                    Self.leftOut["\(table).\($0)"] == nil && Self.leftOut["*.\($0)"] == nil
                }
                #expect(missing == [], "\(table) in \(name)")
            }
        }
    }

    private func columns(of table: String, at server: TestServer) async throws -> Set<String> {
        let rows = try await server.backend.database.execute(
            Statement(
                .read,
                "SELECT column_name::text FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1"
            ), [.text(table)])
        return Set(
            try rows.map { row in
                var row = row
                return try row.next(String.self)
            })
    }
}
