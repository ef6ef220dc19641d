package import Foundation

/// A line of the ledger: an account that must not come back with a restored backup.
///
/// It names nobody but by uid.
package struct LedgerEntry: Sendable, Equatable {
    /// By name: a restored database may number them otherwise.
    package let application: String
    package let uid: UUID
    /// Accounts that it had absorbed, which an older backup has as accounts of their own.
    package let aliases: [UUID]
    package let receipt: UUID
    /// The day: by the very moment one could find the account in the audit, whose events remain.
    package let requestedAt: Date
    package let erasedAt: Date

    package init(
        application: String, uid: UUID, aliases: [UUID], receipt: UUID, requestedAt: Date, erasedAt: Date
    ) {
        self.application = application
        self.uid = uid
        self.aliases = aliases
        self.receipt = receipt
        self.requestedAt = requestedAt.wholeDay
        self.erasedAt = erasedAt
    }
}

extension Date {
    /// The day's beginning (UTC).
    var wholeDay: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 / 86400).rounded(.down) * 86400)
    }
}

/// What was erased, outside of the database and its backups.
package protocol ErasureLedger: Sendable {
    /// Returns once it can't be lost any more.
    func append(_ entry: LedgerEntry) async throws
    /// Everything that any replica has appended, the oldest first.
    func entries() async throws -> [LedgerEntry]
}
