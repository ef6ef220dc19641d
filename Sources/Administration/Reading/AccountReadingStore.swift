package import Accounts
package import Foundation

package protocol AccountReadingStore: Sendable {
    /// Those of the accounts that exist, by uid; aliases too.
    func records(of uids: [UUID], application: Application.ID) async throws -> [UUID: AccountRecord]

    /// The accounts after a position, the newest first.
    func accounts(
        _ filter: AccountFilter, after position: AccountPosition?, limit: Int, application: Application.ID
    ) async throws -> [AccountPosition]

    /// Reads what happens around the account; `counters` are those of its failures.
    func activity(
        of uid: UUID, counters: [FailureCounter], application: Application.ID
    ) async throws -> AccountActivity
}

/// A counter of failures, after too many of which further tries are refused for a while.
package struct FailureCounter: Sendable {
    package let key: AttemptKey
    package let kind: AccountLockout.Kind
    /// Names the locked object, without an address.
    package let name: String
}

/// A lock after too many failures.
package struct AccountLockout: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// Wrong passwords of an identity; the name is its provider.
        case password
        case pin
        /// Wrong codes of an address; the name is the kind of address.
        case code
    }

    package let kind: Kind
    package let name: String
    package let until: Date

    package init(kind: Kind, name: String, until: Date) { (self.kind, self.name, self.until) = (kind, name, until) }
}

/// Something that was sent to the person, or begun by them, and is not finished.
package struct PendingStep: Sendable, Equatable {
    /// The kind of secret that finishes it, as in `code` or `password-reset`.
    package let kind: String
    /// When the latest of that kind expires.
    package let until: Date

    package init(kind: String, until: Date) { (self.kind, self.until) = (kind, until) }
}

/// What happens around an account, apart from what the account is.
package struct AccountActivity: Sendable {
    /// When the person last used a session or signed in, as far as it is still stored.
    package var lastSeenAt: Date?
    /// The receipt of the deletion that is under way.
    package var receipt: UUID?
    package var lockouts: [AccountLockout]
    package var pending: [PendingStep]

    package init(lastSeenAt: Date?, receipt: UUID?, lockouts: [AccountLockout], pending: [PendingStep]) {
        (self.lastSeenAt, self.receipt, self.lockouts, self.pending) = (lastSeenAt, receipt, lockouts, pending)
    }
}
