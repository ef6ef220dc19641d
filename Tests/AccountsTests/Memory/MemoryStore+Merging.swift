import Foundation
import ProviderKit

@testable import Accounts

extension MemoryRows {
    struct MergeRow: Sendable {
        var merge: Merge
        /// The addresses that the absorbed account had before the merge.
        let addresses: [Address]
        let plan: MergePlan
    }
}

extension MemoryStore: MergeStore, MergeUndoStore {
    func mergeReading(of uids: [UUID], application: Application.ID) async throws -> MergeReading {
        try await run(application) { $0.mergeReading(of: uids) }
    }

    func carryOut(
        _ plan: MergePlan, id: UUID, at time: Date, undoWindow: Duration, limit: Int, application: Application.ID
    ) async throws -> Merge {
        try await run(application) { rows in
            let moved = plan.identities.map(\.id)
            guard moved.allSatisfy({ rows.identities[$0]?.uid == plan.absorbed }),
                rows.status(of: plan.absorbed) == .live,
                rows.identities(of: plan.survivor).count(where: { !$0.isGuest }) + moved.count <= limit
            else { throw StoreConflict() }
            let parked = plan.guests.map(\.id).filter { rows.identities[$0]?.uid == plan.survivor }
            let addresses = rows.addresses(of: plan.absorbed)
            for identity in moved { rows.identities[identity]?.uid = plan.survivor }
            for identity in parked { rows.identities[identity]?.uid = plan.absorbed }
            for session in rows.liveSessions(of: plan.survivor) where parked.contains(session.identity) {
                rows.sessions[session.id]?.identity = moved[0]
            }
            for address in addresses { rows.owners[address]?.uid = plan.survivor }
            if let name = plan.displayName { rows.accounts[plan.survivor]?.displayName = name }
            rows.accounts[plan.survivor]?.metadata.merge(plan.metadata) { own, _ in own }
            rows.accounts[plan.absorbed]?.absorbedBy = plan.survivor
            let merge = Merge(
                id: id, survivor: plan.survivor, absorbed: plan.absorbed, mergedAt: rows.now,
                undoUntil: rows.now.addingTimeInterval(undoWindow.inSeconds), undoneAt: nil,
                identities: moved, parked: parked)
            rows.merges.append(MemoryRows.MergeRow(merge: merge, addresses: addresses, plan: plan))
            return merge
        }
    }

    func merges(of uid: UUID, application: Application.ID) async throws -> [Merge] {
        try await run(application) { rows in
            rows.merges.map(\.merge).filter {
                rows.final($0.survivor) == rows.final(uid) && rows.isIn(uid, $0.survivor)
            }
            .reversed()
        }
    }

    func lockMerge(_ id: UUID, by principal: Principal) async throws -> LockedMerge {
        let contact = try await contact(of: principal.uid, application: principal.application.id)
        return try await run(principal.application.id) { rows in
            let row = rows.merges.first {
                $0.merge.id == id && $0.merge.survivor == principal.uid && $0.merge.undoneAt == nil
                    && $0.merge.undoUntil > rows.now
            }
            return LockedMerge(
                merge: row.map { rows.undoable($0) },
                isSessionLive: rows.sessions[principal.sessionID].map { rows.isLive($0) } ?? false,
                contact: contact, hasNoRoleBeyondSession: true)
        }
    }

    func sharedPasswords(of merge: Merge, application: Application.ID) async throws -> [UUID] { [] }

    func undo(_ merge: Merge, evenIfLate: Bool, application: Application.ID) async throws {
        try await run(application) { rows in
            guard let index = rows.merges.firstIndex(where: { $0.merge.id == merge.id }),
                rows.merges[index].merge.undoneAt == nil, evenIfLate || merge.undoUntil > rows.now
            else { throw StoreConflict() }
            let row = rows.merges[index]
            rows.part(row, moving: merge.identities)
            rows.merges[index].merge = Merge(
                id: merge.id, survivor: merge.survivor, absorbed: merge.absorbed, mergedAt: merge.mergedAt,
                undoUntil: merge.undoUntil, undoneAt: rows.now, identities: merge.identities, parked: merge.parked)
        }
    }

    func reviveSessions(of merge: Merge, application: Application.ID) async throws {
        try await run(application) { rows in
            for session in rows.sessions.values
            where session.uid == merge.absorbed && session.reason == .merged && session.endedAt == merge.mergedAt {
                rows.sessions[session.id]?.endedAt = nil
                rows.sessions[session.id]?.reason = nil
                rows.sessions[session.id]?.successor = nil
            }
        }
    }
}

extension MemoryRows {
    func mergeReading(of uids: [UUID]) -> MergeReading {
        var sides: [UUID: MergeSide] = [:]
        var contacts: [UUID: OwnerContact] = [:]
        for uid in uids {
            guard status(of: uid) == .live, let account = accounts[uid] else { continue }
            contacts[uid] = OwnerContact(addresses: addresses(of: uid))
            sides[uid] = MergeSide(
                uid: uid, createdAt: account.createdAt, displayName: account.displayName, metadata: account.metadata,
                identities: identities(of: uid).map(\.identity), addresses: addresses(of: uid),
                sessions: liveSessions(of: uid).count)
        }
        return MergeReading(sides: sides, contacts: contacts, time: now)
    }

    fileprivate func final(_ uid: UUID) -> UUID { accounts[uid]?.absorbedBy.map { final($0) } ?? uid }

    /// Whether `account` is `descendant`, or `descendant` was absorbed into it.
    fileprivate func isIn(_ account: UUID, _ descendant: UUID) -> Bool {
        if account == descendant { return true }
        return accounts[descendant]?.absorbedBy.map { isIn(account, $0) } ?? false
    }

    /// The merge with the identities that an undo moves.
    fileprivate func undoable(_ row: MergeRow) -> Merge {
        let merge = row.merge
        let later = identities(of: merge.survivor).filter { identity in
            identity.createdAt > merge.mergedAt
                && row.addresses.contains { $0.value == identity.providerUid || identity.isVerified($0) }
        }
        return Merge(
            id: merge.id, survivor: merge.survivor, absorbed: merge.absorbed, mergedAt: merge.mergedAt,
            undoUntil: merge.undoUntil, undoneAt: merge.undoneAt, identities: merge.identities + later.map(\.id),
            parked: merge.parked)
    }

    /// Returns identities and addresses to the absorbed account, and removes the fields that the survivor got from it.
    fileprivate mutating func part(_ row: MergeRow, moving moved: [UUID]) {
        let (survivor, absorbed) = (row.merge.survivor, row.merge.absorbed)
        let own = identities(of: survivor)
        let leaving = own.filter { moved.contains($0.id) }
        let staying = own.filter { !moved.contains($0.id) }
        for address in addresses(of: survivor) {
            let leaves = leaving.contains { $0.isVerified(address) }
            let stays = staying.contains { $0.isVerified(address) }
            guard leaves && !stays || row.addresses.contains(address) && (leaves || !stays) else { continue }
            owners[address]?.uid = absorbed
        }
        for identity in leaving { identities[identity.id]?.uid = absorbed }
        if staying.isEmpty {
            for identity in row.merge.parked { identities[identity]?.uid = survivor }
            for session in liveSessions(of: survivor) where row.merge.identities.contains(session.identity) {
                if let guest = row.merge.parked.first { sessions[session.id]?.identity = guest }
            }
        } else {
            for identity in row.merge.parked { identities[identity] = nil }
        }
        if row.plan.displayName != nil, accounts[survivor]?.displayName == row.plan.displayName {
            accounts[survivor]?.displayName = nil
        }
        for (key, value) in row.plan.metadata where accounts[survivor]?.metadata[key] == value {
            accounts[survivor]?.metadata[key] = nil
        }
        accounts[absorbed]?.absorbedBy = nil
        for identity in identities(of: survivor) + identities(of: absorbed) {
            identities[identity.id]?.verified = identity.verified.filter { owners[$0]?.uid == identity.uid }
        }
    }
}
