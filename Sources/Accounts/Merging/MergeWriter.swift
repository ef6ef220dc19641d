internal import Foundation

/// Carries out merges of accounts that the transaction has locked.
struct MergeWriter: Sendable {
    typealias Store = MergeStore & SessionEndStore & EventOutbox & OwnerNotices.Store

    let store: any Store
    let application: Application

    func merge(survivor: UUID, absorbed: UUID) async throws -> Merge {
        let reading = try await store.mergeReading(of: [survivor, absorbed], application: application.id)
        let plan = MergePlan(survivor: try reading.side(survivor), absorbed: try reading.side(absorbed))
        return try await carryOut(plan, from: reading)
    }

    /// Merges the accounts, ends the absorbed account's sessions and notifies the owner.
    func carryOut(_ plan: MergePlan, from reading: MergeReading) async throws -> Merge {
        let policy = application.policy
        let merge = try await store.carryOut(
            plan, id: .v7(), at: reading.time, undoWindow: policy.undoWindow, limit: policy.maximumIdentities,
            application: application.id)
        try await store.endSessions(.all, of: plan.absorbed, because: .merged, application: application.id)
        try await store.announce([.merge(.accountMerged, merge)], application: application.id)
        // The survivor owns the addresses of both accounts now.
        let contacts = [plan.survivor, plan.absorbed].map { reading.contacts[$0] ?? OwnerContact() }
        try await OwnerNotices(store: store, application: application.id).send(
            .accountsMerged, to: contacts[0].adding(contacts[1].addresses), ofOwnerOf: plan.survivor,
            until: merge.undoUntil)
        return merge
    }
}
