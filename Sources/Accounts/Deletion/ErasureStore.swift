package import Foundation

/// An erasure to carry out.
package struct DueErasure: Sendable, Equatable {
    package let application: Application.ID
    package let receipt: UUID
    package let uid: UUID
    package let requestedAt: Date

    package init(application: Application.ID, receipt: UUID, uid: UUID, requestedAt: Date) {
        self.application = application
        self.receipt = receipt
        self.uid = uid
        self.requestedAt = requestedAt
    }
}

/// How long an erasure has been running, and what the processors reported.
package struct ErasureState: Sendable {
    package let hasBegun: Bool
    /// The time since it began.
    package let waited: Duration
    package let processors: [Processor]

    package init(hasBegun: Bool, waited: Duration, processors: [Processor]) {
        self.hasBegun = hasBegun
        self.waited = waited
        self.processors = processors
    }
}

/// What an erasure removed, by kind.
package struct ErasedData: Sendable, Equatable {
    /// Accounts that the account had absorbed.
    package let aliases: [UUID]
    package let counts: [String: Int]

    package init(aliases: [UUID], counts: [String: Int]) {
        self.aliases = aliases
        self.counts = counts
    }
}

/// A guest without recorded activity for a while, after its sessions were checked.
package struct IdleGuest: Sendable, Equatable {
    package let uid: UUID
    package let identity: UUID
    /// The last recorded activity before the check.
    package let seenAt: Date
    package let isIdle: Bool

    package init(uid: UUID, identity: UUID, seenAt: Date, isIdle: Bool) {
        self.uid = uid
        self.identity = identity
        self.seenAt = seenAt
        self.isIdle = isIdle
    }
}

/// The queue of scheduled erasures.
package protocol ErasureQueue: Sendable {
    /// Takes due erasures of these applications, the oldest first, and hides them from others for `lease`.
    ///
    /// One replica takes at a time; another one gets none.
    func takeErasures(
        of applications: [Application.ID], atMost count: Int, lease: Duration
    ) async throws -> [DueErasure]

    /// The account's scheduled erasure, due or not.
    func scheduledErasure(of uid: UUID, application: Application.ID) async throws -> DueErasure?

    /// Ends the grace period of an account that the transaction has locked.
    ///
    /// Applies to this erasure only: if the account was restored and deleted again, the new erasure keeps its own
    /// grace period.
    func skipGracePeriod(of erasure: DueErasure) async throws

    /// Hides the erasure for `delay`.
    func postpone(_ erasure: DueErasure, by delay: Duration) async throws
}

/// Erases accounts.
package protocol ErasureStore: Sendable {
    /// Locks the account and those that it absorbed; empty when the account is gone.
    func lockFamily(of uid: UUID, application: Application.ID) async throws -> [UUID]

    /// Marks the erasure as begun and queues the family's provider tokens to be revoked.
    ///
    /// - Returns: `false` when it is not due, or over.
    func beginErasure(_ erasure: DueErasure, family: [UUID]) async throws -> Bool

    func state(of erasure: DueErasure) async throws -> ErasureState?

    /// Everything that identifies the family in rows without a reference to it.
    func traces(of family: [UUID], application: Application.ID) async throws -> AccountTraces

    /// Removes the locked family and all of its data but its erasures.
    ///
    /// The ids of its sessions are kept for `memory`.
    func erase(
        _ uid: UUID, family: [UUID], traces: ErasableTraces, memory: Duration, application: Application.ID
    ) async throws -> ErasedData

    /// Records that the account is gone, also when the database has no such erasure.
    func conclude(_ erasure: DueErasure, erasedAt: Date, certificate: String) async throws

    /// Returns those of the accounts that exist.
    func existing(_ uids: [UUID], application: Application.ID) async throws -> [UUID]
}

/// Provider tokens that wait to be revoked.
package protocol RevocationRetryStore: Sendable {
    /// Makes the account's pending revocations due now.
    func retryRevocations(of uid: UUID, application: Application.ID) async throws
}

/// Finds guests that have not been used for long.
package protocol IdleGuestStore: Sendable {
    /// Looks in order, after `last`, at guests without recorded activity within `retention`.
    ///
    /// Those that turn out to be active are not looked at again for as long. One replica looks at a time; another one
    /// gets none.
    func guests(
        idleFor retention: Duration, after last: IdleGuest?, atMost count: Int, application: Application.ID
    ) async throws -> [IdleGuest]

    /// Whether the account is still an idle guest.
    func isIdleGuest(_ uid: UUID, for retention: Duration, application: Application.ID) async throws -> Bool
}
