import Foundation
import Postgres
import ProviderKit

@testable import GatehouseServer

/// Compares the state of accounts that follows from the audit with the state in the database.
struct AuditReplay {
    fileprivate struct Account: Equatable {
        var identities = 0
        var deletions = 0
        var absorptions = 0
    }

    private let server: TestServer

    init(_ server: TestServer) { self.server = server }

    /// Returns a description of every account whose state in the database differs from the one that its events imply.
    func contradictions() async throws -> [String] {
        let told = try await replayed()
        return try await standing().compactMap { name, account in
            let expected = told[name] ?? Account()
            return account == expected ? nil : "account \(name) is \(account), the audit tells of \(expected)"
        }
    }

    /// Compares sums, because the order of events of concurrent transactions is undefined.
    private func replayed() async throws -> [String: Account] {
        let statement = Statement(
            .read, "SELECT encode(account, 'hex'), event, details::text FROM audit_events WHERE account IS NOT NULL")
        var accounts: [String: Account] = [:]
        for row in try await server.backend.database.execute(statement, []) {
            var row = row
            let name: String = try row.next()
            let event: String = try row.next()
            let details = try JSONDecoder().decode(JSONValue.self, from: Data(row.next(String.self).utf8))
            accounts[name, default: Account()].apply(event, details)
        }
        return accounts
    }

    private func standing() async throws -> [(String, Account)] {
        let statement = Statement(
            .read,
            """
            SELECT encode(sha256(a.audit_key || uuid_send(a.uid)), 'hex'),
                   (SELECT count(*) FROM identities i WHERE i.application_id = a.application_id AND i.uid = a.uid),
                   a.deleted_at IS NOT NULL, a.absorbed_by IS NOT NULL
              FROM accounts a
            """)
        return try await server.backend.database.execute(statement, []).map { row in
            var row = row
            let name: String = try row.next()
            let identities: Int = try row.next()
            let isDeleted: Bool = try row.next()
            let isAbsorbed: Bool = try row.next()
            return (
                name,
                Account(identities: identities, deletions: isDeleted ? 1 : 0, absorptions: isAbsorbed ? 1 : 0)
            )
        }
    }
}

extension AuditReplay.Account {
    fileprivate mutating func apply(_ event: String, _ details: JSONValue) {
        switch event {
        case "account.created", "identity.linked": identities += 1
        case "identity.unlinked", "number.recycled", "guest.upgraded": identities -= 1
        case "account.deleted": deletions += 1
        case "account.restored": deletions -= 1
        case "account.merged": move(details, by: 1)
        case "account.unmerged": move(details, by: -1)
        default: break
        }
    }

    private mutating func move(_ details: JSONValue, by direction: Int) {
        let isAbsorbed = details["role"] == "absorbed"
        if isAbsorbed { absorptions += direction }
        let gained = (details["moved"].integer ?? 0) - (details["parked"].integer ?? 0)
        identities += direction * Int(isAbsorbed ? -gained : gained)
    }
}
