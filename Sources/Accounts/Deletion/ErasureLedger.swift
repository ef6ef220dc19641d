package import Foundation

/// A line of the ledger: an account, by its uid alone, that must not exist again after a backup is restored.
package struct LedgerEntry: Sendable, Equatable {
    /// The application's name, since its number may differ in a restored database.
    package let application: String
    package let uid: UUID
    /// The accounts that the account had absorbed; an older backup contains them as separate accounts.
    package let aliases: [UUID]
    package let receipt: UUID
    /// Only the day, because the exact time would identify the account in the audit, whose events remain.
    package let requestedAt: Date
    package let erasedAt: Date

    package init(application: String, uid: UUID, aliases: [UUID], receipt: UUID, requestedAt: Date, erasedAt: Date) {
        (self.application, self.uid, self.aliases, self.receipt) = (application, uid, aliases, receipt)
        self.requestedAt = requestedAt.wholeDay
        self.erasedAt = erasedAt
    }
}

extension Date {
    var wholeDay: Date { Date(timeIntervalSince1970: (timeIntervalSince1970 / 86400).rounded(.down) * 86400) }
}

/// Records erasures outside the database and its backups.
package protocol ErasureLedger: Sendable {
    /// Returns once the entry is durable.
    func append(_ entry: LedgerEntry) async throws
    /// The entries of all replicas, the oldest first.
    func entries() async throws -> [LedgerEntry]
    /// Whether nothing was ever appended; faster than reading the entries.
    func isEmpty() async throws -> Bool
}
