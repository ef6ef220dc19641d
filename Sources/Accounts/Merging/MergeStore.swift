package import Foundation

/// A merge that was carried out.
package struct Merge: Sendable, Equatable {
    package let id: UUID
    package let survivor: UUID
    package let absorbed: UUID
    package let mergedAt: Date
    package let undoUntil: Date
    package let undoneAt: Date?
    /// The identities that moved, by id.
    package let identities: [UUID]
    /// Guests' identities that the survivor gave up for them.
    package let parked: [UUID]

    package init(
        id: UUID, survivor: UUID, absorbed: UUID, mergedAt: Date, undoUntil: Date, undoneAt: Date?,
        identities: [UUID], parked: [UUID]
    ) {
        self.id = id
        self.survivor = survivor
        self.absorbed = absorbed
        self.mergedAt = mergedAt
        self.undoUntil = undoUntil
        self.undoneAt = undoneAt
        self.identities = identities
        self.parked = parked
    }
}

/// Accounts that become one, and part again; the caller has locked both, in the order of their uids.
package protocol MergeStore: Sendable {
    /// - Throws: `StoreConflict` for an account that is not live.
    func mergeSide(_ uid: UUID, application: Application.ID) async throws -> MergeSide

    /// Makes the absorbed account an alias of the survivor, and remembers what moved for `undoWindow`.
    /// - Throws: `StoreConflict` when the rows are no longer what was planned on.
    func carryOut(_ plan: MergePlan, id: UUID, undoWindow: Duration, application: Application.ID) async throws -> Merge

    /// Of the account, the newest first; those of what it absorbed are its own too.
    func merges(of uid: UUID, application: Application.ID) async throws -> [Merge]

    /// Gives the absorbed account back what moved and is still there.
    ///
    /// - Returns: `false` where the time for it is over, unless that is to be overlooked, or it has been undone.
    func undo(_ merge: Merge, evenIfLate: Bool, application: Application.ID) async throws -> Bool

    /// Gives an absorbed guest its sessions back, which are all that it had: those that the merge ended.
    func reviveSessions(of merge: Merge, application: Application.ID) async throws

    /// The account that a uid stands for now: itself, or whatever absorbed it in the end.
    func resolve(_ uid: UUID, application: Application.ID) async throws -> UUID
}
