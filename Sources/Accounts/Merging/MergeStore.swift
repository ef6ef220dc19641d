package import Foundation

/// A merge that was carried out.
package struct Merge: Sendable, Equatable {
    package let id: UUID
    package let survivor: UUID
    package let absorbed: UUID
    package let mergedAt: Date
    package let undoUntil: Date
    package let undoneAt: Date?
    /// The ids of the identities that moved.
    package let identities: [UUID]
    /// Guest identities that the survivor gave up.
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

/// Merges accounts that the transaction has locked, in the order of their uids.
package protocol MergeStore: Sendable {
    /// - Throws: `StoreConflict` for an account that is not live.
    func mergeSide(_ uid: UUID, application: Application.ID) async throws -> MergeSide

    /// Makes the absorbed account an alias of the survivor, and records for `undoWindow` what moved.
    /// - Throws: `StoreConflict` when the rows are no longer those of the plan.
    func carryOut(_ plan: MergePlan, id: UUID, undoWindow: Duration, application: Application.ID) async throws -> Merge
}

/// Merge tickets, bound to a session.
package protocol MergeTicketStore: Sendable {
    /// The proof of the account that a ticket of the session, or of one that the session resumes, merges with.
    ///
    /// Of concurrent callers that use it up, one gets the proof.
    func mergeTicket(
        _ hash: [UInt8], of session: UUID, usingUp: Bool, application: Application.ID
    ) async throws -> Proof?
}

/// Merges that were carried out, and undoing them.
package protocol MergeUndoStore: Sendable {
    /// Merges of the account and of the accounts that it absorbed, the newest first.
    func merges(of uid: UUID, application: Application.ID) async throws -> [Merge]

    /// Gives the absorbed account back what moved and still exists. Lock both accounts first.
    ///
    /// - Returns: `false` when the merge was undone before, or it is too late and `evenIfLate` is not set.
    func undo(_ merge: Merge, evenIfLate: Bool, application: Application.ID) async throws -> Bool

    /// Revives the sessions of an absorbed guest that the merge ended; a guest has nothing else.
    func reviveSessions(of merge: Merge, application: Application.ID) async throws
}

/// Resolves uids of absorbed accounts.
package protocol AliasStore: Sendable {
    /// The account itself, or the account that finally absorbed it.
    func resolve(_ uid: UUID, application: Application.ID) async throws -> UUID
}
