internal import Foundation

/// Carries out merges of accounts that the transaction has locked.
struct MergeWriter: Sendable {
    typealias Store = MergeStore & SessionEndStore & EventOutbox & OwnerNotices.Store

    let store: any Store
    let application: Application

    func merge(survivor: UUID, absorbed: UUID) async throws -> Merge {
        try await carryOut(
            MergePlan(
                survivor: try await store.mergeSide(survivor, application: application.id),
                absorbed: try await store.mergeSide(absorbed, application: application.id)))
    }

    /// Merges the accounts, ends the absorbed account's sessions and notifies the owner.
    func carryOut(_ plan: MergePlan) async throws -> Merge {
        let merge = try await store.carryOut(
            plan, id: .v7(), undoWindow: application.policy.undoWindow, application: application.id)
        try await store.endSessions(.all, of: plan.absorbed, because: .merged, application: application.id)
        try await store.announce([.merge(.accountMerged, merge)], application: application.id)
        // At this point the survivor owns the addresses of both accounts.
        try await OwnerNotices(store: store, application: application.id)
            .send(.accountsMerged, toOwnerOf: plan.survivor, until: merge.undoUntil)
        return merge
    }
}
