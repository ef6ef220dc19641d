package import Foundation

/// A merge that was carried out.
package struct Merge: Sendable, Equatable {
    package let id, survivor, absorbed: UUID
    package let mergedAt, undoUntil: Date
    package let undoneAt: Date?
    /// The ids of the identities that moved.
    package let identities: [UUID]
    /// The survivor's guest identities that the merge removed, and that an undo restores.
    package let parked: [UUID]

    package init(
        id: UUID, survivor: UUID, absorbed: UUID, mergedAt: Date, undoUntil: Date, undoneAt: Date?,
        identities: [UUID], parked: [UUID]
    ) {
        (self.id, self.survivor, self.absorbed, self.mergedAt) = (id, survivor, absorbed, mergedAt)
        (self.undoUntil, self.undoneAt, self.identities, self.parked) = (undoUntil, undoneAt, identities, parked)
    }
}

/// Merges accounts that the transaction has locked.
package protocol MergeStore: Sendable {
    /// - Throws: `StoreConflict` if the account is not live.
    func mergeSide(_ uid: UUID, application: Application.ID) async throws -> MergeSide

    /// Makes the absorbed account an alias of the survivor, and records what moved for an undo within `undoWindow`.
    /// - Throws: `StoreConflict` if the rows have changed since the plan was made.
    func carryOut(_ plan: MergePlan, id: UUID, undoWindow: Duration, application: Application.ID) async throws -> Merge
}

/// Reads merge tickets, each of which is bound to a session.
package protocol MergeTicketStore: Sendable {
    /// Returns the proof of the other account that a ticket contains.
    ///
    /// The ticket must be bound to the session, or to one that it resumes. If callers race, only one gets the proof.
    func mergeTicket(
        _ hash: [UInt8], of session: UUID, usingUp: Bool, application: Application.ID
    ) async throws -> Proof?
}

package protocol MergeUndoStore: Sendable {
    /// The merges of the account and of the accounts that it absorbed, the newest first.
    func merges(of uid: UUID, application: Application.ID) async throws -> [Merge]

    /// Moves what the merge moved and still exists back to the absorbed account; both accounts are locked.
    /// - Returns: `false` if the merge was undone before, or if the undo window has passed and `evenIfLate` is false.
    func undo(_ merge: Merge, evenIfLate: Bool, application: Application.ID) async throws -> Bool

    /// Revives the sessions of an absorbed guest that the merge ended, since a guest cannot sign in again.
    func reviveSessions(of merge: Merge, application: Application.ID) async throws
}

package protocol AliasStore: Sendable {
    /// Returns the account that absorbed `uid`, directly or through other accounts; `uid` itself if it is not an alias.
    func resolve(_ uid: UUID, application: Application.ID) async throws -> UUID
}
