package import Foundation

package struct DueErasure: Sendable, Equatable {
    package let application: Application.ID
    package let receipt, uid: UUID
    package let requestedAt: Date

    package init(application: Application.ID, receipt: UUID, uid: UUID, requestedAt: Date) {
        (self.application, self.receipt, self.uid, self.requestedAt) = (application, receipt, uid, requestedAt)
    }
}

/// How long an erasure has been running, and the status of its processors.
package struct ErasureState: Sendable {
    package let hasBegun: Bool
    /// The time since the erasure began.
    package let waited: Duration
    package let processors: [Processor]

    package init(hasBegun: Bool, waited: Duration, processors: [Processor]) {
        (self.hasBegun, self.waited, self.processors) = (hasBegun, waited, processors)
    }
}

/// The absorbed accounts that an erasure removed, and the number of removed rows of each kind.
package struct ErasedData: Sendable, Equatable {
    package let aliases: [UUID]
    package let counts: [String: Int]

    package init(aliases: [UUID], counts: [String: Int]) { (self.aliases, self.counts) = (aliases, counts) }
}

/// A guest account without recorded activity within the retention, and the result of checking its sessions.
package struct IdleGuest: Sendable, Equatable {
    package let uid, identity: UUID
    /// The last recorded activity before the check.
    package let seenAt: Date
    package let isIdle: Bool

    package init(uid: UUID, identity: UUID, seenAt: Date, isIdle: Bool) {
        (self.uid, self.identity, self.seenAt, self.isIdle) = (uid, identity, seenAt, isIdle)
    }
}

package protocol ErasureQueue: Sendable {
    /// Takes due erasures of these applications, the oldest of each first, and hides them from others for `lease`.
    ///
    /// The applications are asked in any order, so that none waits for the others. Only one replica can take erasures of
    /// an application at a time; the result lacks those of applications from which another replica is taking some.
    func takeErasures(
        of applications: [Application.ID], atMost count: Int, lease: Duration
    ) async throws -> [DueErasure]

    /// The account's scheduled erasure, due or not.
    func scheduledErasure(of uid: UUID, application: Application.ID) async throws -> DueErasure?
    /// Ends the grace period of this erasure of a locked account; a later deletion keeps its own.
    func skipGracePeriod(of erasure: DueErasure) async throws
    /// Hides the erasure from `takeErasures` for `delay`.
    func postpone(_ erasure: DueErasure, by delay: Duration) async throws
}

/// Erases accounts, each with its family: the account and the accounts that it absorbed.
package protocol ErasureStore: Sendable {
    /// - Returns: the uids of the family; empty if the account does not exist.
    func lockFamily(of uid: UUID, application: Application.ID) async throws -> [UUID]

    /// Marks the erasure as begun and queues the family's provider tokens to be revoked.
    /// - Returns: `false` if the erasure is not due yet or already concluded.
    func beginErasure(_ erasure: DueErasure, family: [UUID]) async throws -> Bool

    func state(of erasure: DueErasure) async throws -> ErasureState?
    /// Returns the values that identify the family in rows that do not refer to it by uid.
    func traces(of family: [UUID], application: Application.ID) async throws -> AccountTraces
    /// Removes the locked family and its data, but keeps session ids for `memory`, so that tokens remain revoked.
    func erase(_ uid: UUID, family: [UUID], traces: ErasableTraces, memory: Duration, application: Application.ID)
        async throws -> ErasedData
    /// Records the account's erasure, and inserts a row for it if the database has none.
    ///
    /// Of the family, only the days of what happened remain.
    func conclude(_ erasure: DueErasure, family: [UUID], erasedAt: Date, certificate: String) async throws
    /// Returns those of `uids` that belong to accounts in the database.
    func existing(_ uids: [UUID], application: Application.ID) async throws -> [UUID]
}

package protocol RevocationRetryStore: Sendable {
    /// Makes the account's pending revocations due now.
    func retryRevocations(of uid: UUID, application: Application.ID) async throws
}

package protocol IdleGuestStore: Sendable {
    /// Checks the guests that follow `last` and have no recorded activity within `retention`.
    ///
    /// A guest whose sessions show later activity is returned with `isIdle` false, and is not checked again until
    /// `retention` has passed once more. Only one replica can check guests at a time; for others the result is empty.
    func guests(idleFor retention: Duration, after last: IdleGuest?, atMost count: Int, application: Application.ID)
        async throws -> [IdleGuest]

    /// Also locks the guest's sessions, so that none is refreshed before the transaction ends.
    func isIdleGuest(_ uid: UUID, for retention: Duration, application: Application.ID) async throws -> Bool
}
