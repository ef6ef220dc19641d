import Accounts
import Foundation
import Postgres
import ProviderKit
import Storage
import Testing
import Tokens

@testable import GatehouseServer

extension TestServer {
    /// Waits until every event is sealed and returns the time that took.
    @discardableResult
    func awaitSealed() async throws -> Duration {
        try await eventually("the audit is sealed") {
            try await count("SELECT count(*) FROM audit_events WHERE batch IS NULL") == 0
        }
    }

    @discardableResult
    func verify(through checkpoint: AuditCheckpoint? = nil) async throws -> AuditReport {
        try await AuditVerification(store: backend.audit, authentication: backend.auditMAC, time: SystemTime())
            .verify(through: checkpoint)
    }

    /// Rebuilds the chain with other sealing times and the current content of its events, as the holder of the key
    /// could.
    func reseal(_ time: (AuditBatch) -> Int?) async throws {
        let old = try await backend.audit.batches(after: 0, atMost: 1000)
        var previous = try #require(old.first).previous
        for old in old {
            let events = try await backend.audit.events(ofBatches: old.seq...old.seq, atMost: 1000).map(\.event)
            var batch = AuditBatch(
                seq: old.seq, previous: previous, firstAt: old.firstAt, lastAt: old.lastAt, sealedAt: time(old),
                events: old.events, digest: backend.auditMAC.digest(of: events))
            batch.mac = backend.auditMAC.mac(of: batch)
            try await execute(
                """
                UPDATE audit_batches
                   SET previous = $2, digest = $3, mac = $4,
                       sealed_at = 'epoch'::timestamptz + $5 * interval '1 microsecond'
                 WHERE seq = $1
                """,
                [.int(batch.seq), .bytes(previous), .bytes(batch.digest), .bytes(batch.mac), .int(batch.sealedAt)])
            previous = batch.mac
        }
    }

    /// An event with its details and its account's pseudonym, if it has one.
    struct Audited: Equatable, CustomStringConvertible {
        let event: String
        let details: JSONValue
        let account: [UInt8]?

        var description: String { "\(event) \(details) \(account == nil ? "of no account" : "of an account")" }
    }

    /// Returns the events in the order in which they were written, including counted refusals whose minute is not over
    /// yet.
    func audited() async throws -> [Audited] {
        try await endMinute()
        let events = try await backend.audit.events(
            of: application().id, account: nil, since: nil, after: nil, atMost: 10_000)
        return try events.map { event in
            Audited(
                event: event.event,
                details: try JSONDecoder().decode(JSONValue.self, from: Data(event.details.utf8)),
                account: event.account)
        }
    }

    /// Moves the refusals that were counted in the current minute to the audit.
    func endMinute() async throws {
        let table = RefusalsTable(database: backend.database)
        try await table.moveToAudit()
        try await age("refusals", "minute", by: "1 minute")
        try await table.moveToAudit()
    }

    /// Returns the audit events that were written while the body ran.
    func audited(while body: () async throws -> Void) async throws -> [Audited] {
        let before = try await audited().count
        try await body()
        return Array(try await audited().dropFirst(before))
    }

    func pseudonym(of uid: String) async throws -> [UInt8] {
        var row = try #require(
            try await backend.database.execute(
                Statement(.read, "SELECT sha256(audit_key || uuid_send(uid)) FROM accounts WHERE uid = $1"),
                [.uuid(UUID(uuidString: uid))]
            ).first)
        return try row.next()
    }
}
