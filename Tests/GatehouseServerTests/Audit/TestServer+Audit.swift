import Accounts
import Foundation
import Postgres
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

extension TestServer {
    /// How long it takes until every event is sealed.
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

    /// An event, its details, and whether it names an account.
    struct Audited: Equatable, CustomStringConvertible {
        let event: String
        let details: JSONValue
        let account: [UInt8]?

        var description: String { "\(event) \(details) \(account == nil ? "of nobody" : "of an account")" }
    }

    /// In the order in which they were written.
    func audited() async throws -> [Audited] {
        try await backend.audit.events(of: application().id, account: nil, since: nil, after: nil, atMost: 10_000)
            .map { event in
                Audited(
                    event: event.event,
                    details: try JSONDecoder().decode(JSONValue.self, from: Data(event.details.utf8)),
                    account: event.account)
            }
    }

    /// What the audit gained while the body ran.
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
