package import Foundation

/// A merge that was carried out.
package struct Merge: Sendable, Equatable {
    package let id, survivor, absorbed: UUID
    package let mergedAt, undoUntil: Date
    package let undoneAt: Date?
    /// The ids of the identities that moved.
    ///
    /// Once the merge is read again, they include those that joined the survivor later and are, or prove, an address of
    /// the absorbed account. They leave with the address if the merge is undone.
    package let identities: [UUID]
    /// The survivor's guest identities that the merge removed.
    ///
    /// An undo restores them, unless the survivor has another identity by then.
    package let parked: [UUID]

    package init(
        id: UUID, survivor: UUID, absorbed: UUID, mergedAt: Date, undoUntil: Date, undoneAt: Date?,
        identities: [UUID], parked: [UUID]
    ) {
        (self.id, self.survivor, self.absorbed, self.mergedAt) = (id, survivor, absorbed, mergedAt)
        (self.undoUntil, self.undoneAt, self.identities, self.parked) = (undoUntil, undoneAt, identities, parked)
    }
}

/// Accounts to merge, as a transaction read them after locking them.
package struct MergeReading: Sendable {
    package let sides: [UUID: MergeSide]
    package let contacts: [UUID: OwnerContact]
    /// The time of the transaction.
    package let time: Date

    package init(sides: [UUID: MergeSide], contacts: [UUID: OwnerContact], time: Date) {
        self.sides = sides
        self.contacts = contacts
        self.time = time
    }

    /// - Throws: `StoreConflict` if the account was not live.
    func side(_ uid: UUID) throws -> MergeSide {
        guard let side = sides[uid] else { throw StoreConflict() }
        return side
    }
}

/// Merges accounts that the transaction has locked.
package protocol MergeStore: Sendable {
    /// Reads the live accounts among those with these uids.
    func mergeReading(of uids: [UUID], application: Application.ID) async throws -> MergeReading

    /// Makes the absorbed account an alias of the survivor, and records what moved, so that `undo` works for
    /// `undoWindow`.
    ///
    /// `time` is that of the reading which the plan was made from.
    /// - Throws: `StoreConflict` if the rows have changed since the plan was made, or the survivor would have more than
    ///   `limit` identities.
    func carryOut(
        _ plan: MergePlan, id: UUID, at time: Date, undoWindow: Duration, limit: Int, application: Application.ID
    ) async throws -> Merge
}

/// Locks and consumes merge tickets, each of which is bound to a session.
package protocol MergeTicketStore: Sendable {
    /// Locks a ticket, the principal's account, the ticket's account, and the principal's session, and reads what a
    /// merge depends on.
    ///
    /// - Returns: `nil` if the ticket is not bound to the session or to one that the session resumes, or if the session
    ///   has ended.
    func lockMerge(byTicket hash: [UInt8], of principal: Principal) async throws -> TicketedMerge?

    /// Consumes a locked ticket.
    func useMergeTicket(_ hash: [UInt8], application: Application.ID) async throws
}

/// What a merge by a ticket depends on.
package struct TicketedMerge: Sendable {
    /// The proof of the other account that the ticket contains.
    package let proof: Proof
    /// The identity that opened the principal's session.
    package let identity: UUID
    package let reading: MergeReading

    package init(proof: Proof, identity: UUID, reading: MergeReading) {
        self.proof = proof
        self.identity = identity
        self.reading = reading
    }
}

package protocol MergeUndoStore: Sendable {
    /// The merges of the account and of the accounts that it absorbed, the newest first.
    func merges(of uid: UUID, application: Application.ID) async throws -> [Merge]

    /// Locks both accounts of a merge into the principal's account, and the principal's session.
    func lockMerge(_ id: UUID, by principal: Principal) async throws -> LockedMerge

    /// The identities of the survivor with a password that was set since the merge, except by a reset: the owner of either
    /// account may know it.
    func sharedPasswords(of merge: Merge, application: Application.ID) async throws -> [UUID]

    /// Moves everything that the merge moved, and that still exists, back to the absorbed account.
    ///
    /// Lock both accounts first; `merge` has the identities that leave the survivor.
    ///
    /// - Throws: `StoreConflict` if the merge was undone before, or if the undo window has passed and `evenIfLate` is
    ///   false.
    func undo(_ merge: Merge, evenIfLate: Bool, application: Application.ID) async throws

    /// Revives the sessions of an absorbed guest that the merge ended, since a guest cannot sign in again.
    func reviveSessions(of merge: Merge, application: Application.ID) async throws
}

/// A merge whose accounts are locked.
package struct LockedMerge: Sendable {
    /// `nil` if there is no such merge, or none that can still be undone.
    package let merge: Merge?
    /// Whether the principal's session is live.
    package let isSessionLive: Bool
    /// The contact of the principal's account, which is the survivor.
    package let contact: OwnerContact
    /// Whether the session has every role that an identity of the account has (`RoleIdentityStore`).
    package let hasNoRoleBeyondSession: Bool
    /// As `MergeUndoStore.sharedPasswords`.
    package let sharedPasswords: [UUID]

    package init(
        merge: Merge?, isSessionLive: Bool, contact: OwnerContact, hasNoRoleBeyondSession: Bool,
        sharedPasswords: [UUID] = []
    ) {
        self.merge = merge
        self.isSessionLive = isSessionLive
        self.contact = contact
        self.hasNoRoleBeyondSession = hasNoRoleBeyondSession
        self.sharedPasswords = sharedPasswords
    }
}

/// Resolves uids of absorbed accounts.
package protocol AliasStore: Sendable {
    /// Returns the account that absorbed `uid`, directly or through other accounts; `uid` itself if it is not an alias.
    func resolve(_ uid: UUID, application: Application.ID) async throws -> UUID
}

extension MergeUndoStore where Self: SessionEndStore {
    /// Ends the sessions of the identities that left the survivor, and those that a password may have opened that both
    /// owners knew.
    func endSessions(ofUndone merge: Merge, sharing passwords: [UUID], application: Application.ID) async throws {
        for (identities, time) in [(merge.identities, nil), (passwords, merge.mergedAt)] as [([UUID], Date?)]
        where !identities.isEmpty {
            try await endSessions(
                .openedBy(identities, after: time), of: merge.survivor, because: .mergeUndone, application: application)
        }
    }
}
