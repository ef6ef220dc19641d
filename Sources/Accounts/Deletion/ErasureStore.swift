package import Foundation

/// An erasure whose time has come.
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

/// How long an erasure has been under way, and who has said what.
package struct ErasureStanding: Sendable {
    package let hasBegun: Bool
    /// Since it has.
    package let waited: Duration
    package let processors: [Processor]

    package init(hasBegun: Bool, waited: Duration, processors: [Processor]) {
        self.hasBegun = hasBegun
        self.waited = waited
        self.processors = processors
    }
}

/// How much of each kind an erasure removed.
package struct ErasedData: Sendable, Equatable {
    /// Accounts that it had absorbed.
    package let aliases: [UUID]
    package let counts: [String: Int]

    package init(aliases: [UUID], counts: [String: Int]) {
        self.aliases = aliases
        self.counts = counts
    }
}

/// A guest who was looked at, since it had not been heard of for a while as far as anybody knew.
package struct IdleGuest: Sendable, Equatable {
    package let uid: UUID
    package let identity: UUID
    /// When it was last heard of, before it was looked at.
    package let seenAt: Date
    package let isIdle: Bool

    package init(uid: UUID, identity: UUID, seenAt: Date, isIdle: Bool) {
        self.uid = uid
        self.identity = identity
        self.seenAt = seenAt
        self.isIdle = isIdle
    }
}

package protocol ErasureStore: Sendable {
    /// Erasures that are due in these applications, the oldest first, hidden from others for `lease`.
    ///
    /// One replica takes at a time: another one gets none.
    func takeErasures(of applications: [Application.ID], atMost count: Int, lease: Duration) async throws
        -> [DueErasure]

    /// The one that is scheduled for the account, due or not.
    func scheduledErasure(of uid: UUID, application: Application.ID) async throws -> DueErasure?

    /// All that are due, without taking them.
    func dueErasures(of application: Application.ID) async throws -> [DueErasure]

    /// Ends the grace period of an account that the caller has locked.
    ///
    /// One that was restored and asked for once more is another erasure, with a grace period of its own.
    func skipGracePeriod(of erasure: DueErasure) async throws

    /// The account and those that it has absorbed, locked until the transaction ends; none where it is gone.
    func lockFamily(of uid: UUID, application: Application.ID) async throws -> [UUID]

    /// Notes that the erasure has begun, and hands the family's tokens over to be given back.
    ///
    /// - Returns: `false` where it is not due, or over.
    func beginErasure(_ erasure: DueErasure, family: [UUID]) async throws -> Bool

    func standing(of erasure: DueErasure) async throws -> ErasureStanding?

    /// Nobody looks at it again before that.
    func postpone(_ erasure: DueErasure, by delay: Duration) async throws

    /// Makes tokens due now that are still to be given back.
    func retryRevocations(of uid: UUID, application: Application.ID) async throws

    /// Everything by which the family can be recognised where no row refers to it.
    func traces(of family: [UUID], application: Application.ID) async throws -> AccountTraces

    /// Removes the locked family and all that is about it, but for its erasures.
    ///
    /// The ids of its sessions are kept for `memory`.
    func erase(
        _ uid: UUID, family: [UUID], traces: ErasableTraces, memory: Duration, application: Application.ID
    ) async throws -> ErasedData

    /// Notes that the account is gone; for one that the database knows no erasure of, too.
    func conclude(_ erasure: DueErasure, erasedAt: Date, certificate: String) async throws

    /// Which of these accounts are there.
    func existing(_ uids: [UUID], application: Application.ID) async throws -> [UUID]

    /// Looks at guests whom nobody is known to have heard of for so long, in order, after that one.
    ///
    /// Those that turn out to be alive are not looked at again for as long. One replica looks at a time: another one
    /// gets none.
    func guests(
        idleFor retention: Duration, after last: IdleGuest?, atMost count: Int, application: Application.ID
    ) async throws -> [IdleGuest]

    /// Whether the account is still what `guests` gave.
    func isIdleGuest(_ uid: UUID, for retention: Duration, application: Application.ID) async throws -> Bool
}
