package import Foundation
package import ProviderKit

/// Carries out due erasures of all applications in small batches.
package struct Purge: Sendable {
    package typealias Store = ErasureQueue & ErasureStore & ErasureStatusStore & EventDeliveryStore
        & RevocationRetryStore & IdleGuestStore & AliasStore & AccountLocks & AuditTrail & DeletionScheduling.Store

    package struct Outcome: Sendable {
        package let erasure: DueErasure
        package let progress: Result<Erasure.Progress, any Error>
    }

    private let store: any TransactionalStore & Store
    private let erasure: Erasure
    private let pace: ErasurePace

    package init(store: any TransactionalStore & Store, erasure: Erasure, pace: ErasurePace) {
        (self.store, self.erasure, self.pace) = (store, erasure, pace)
    }

    /// The number of erasures in a batch, which ends before its lease unless the ledger's disk is very slow.
    private static let batch = 20
    /// How long taken erasures are hidden from other replicas, which take them then if this one has crashed.
    private static let lease: Duration = .seconds(30)
    private static let guestBatch = 200

    /// Carries out one batch of due erasures.
    ///
    /// A rest follows each erasure, so that sign-ins do not become slower (`ErasurePace`). A failed erasure does not stop
    /// the others; it is tried again when its lease ends.
    package func eraseBatch(of scopes: [ErasureScope]) async throws -> [Outcome] {
        let known = Dictionary(scopes.map { ($0.application.id, $0) }) { first, _ in first }
        let due = try await store.takeErasures(of: Array(known.keys), atMost: Self.batch, lease: Self.lease)
        var outcomes: [Outcome] = []
        for due in due {
            guard let scope = known[due.application] else { continue }
            pace.noteUndisturbed()
            let start = ContinuousClock.now
            do {
                outcomes.append(Outcome(erasure: due, progress: .success(try await erasure.advance(due, in: scope))))
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                outcomes.append(Outcome(erasure: due, progress: .failure(error)))
            }
            let rest = pace.rest(after: .now - start)
            // Statements that the erasure delayed are answered soon after it.
            try await Task.sleep(for: rest / 2)
            pace.noteDisturbed()
            try await Task.sleep(for: rest / 2)
        }
        return outcomes
    }

    /// Records in the audit, before the purge, that an admin runs it for one account or for all.
    ///
    /// `details` say who runs it.
    package func begin(
        of uid: UUID? = nil, details: [String: JSONValue], in application: Application
    ) async throws {
        let details = details.merging(["now": .bool(uid != nil)]) { $1 }
        try await store.record(AuditEntry(.purgeRun, of: uid, details: details), application: application.id)
    }

    /// Advances one erasure now, even if its grace period has not ended or another replica has taken it.
    /// - Returns: `.void` if the account was restored; `.erased` if another replica has concluded the erasure.
    package func erase(_ due: DueErasure, in scope: ErasureScope) async throws -> Erasure.Progress {
        try await store.retryingTransaction { store in
            _ = try await store.lockAccount(due.uid, application: due.application)
            try await store.skipGracePeriod(of: due)
        }
        let progress = try await erasure.advance(due, in: scope)
        guard progress == .void,
            let status = try await store.erasure(receipt: due.receipt, application: due.application),
            status.erasedAt != nil
        else { return progress }
        return .erased(without: status.processors.filter { !$0.isAcknowledged })
    }

    /// Returns the scheduled erasure of the account, or of the account that absorbed it.
    /// - Throws: `AccountsError.accountNotFound`; `AccountsError.accountIsLive` if no deletion was requested.
    package func scheduled(_ uid: UUID, in application: Application) async throws -> DueErasure {
        let uid = try await store.resolve(uid, application: application.id)
        if let erasure = try await store.scheduledErasure(of: uid, application: application.id) { return erasure }
        guard try await store.existing([uid], application: application.id).isEmpty else {
            throw AccountsError.accountIsLive(uid)
        }
        throw AccountsError.accountNotFound(uid)
    }

    /// Retries all unacknowledged deliveries and revocations now.
    package func retry(_ erasure: DueErasure) async throws {
        let deliveries = try await store.deliveries(
            ofLast: .accountDeleted, about: erasure.uid, application: erasure.application)
        if let event = deliveries.first?.event {
            try await store.retryUnacknowledged(of: event, application: erasure.application)
        }
        try await store.retryRevocations(of: erasure.uid, application: erasure.application)
    }

    package func processors(of erasure: DueErasure) async throws -> [Processor] {
        try await store.state(of: erasure)?.processors ?? []
    }

    /// Deletes the guests that were idle for longer than `anonymousRetention`, without a grace period.
    package func deleteIdleGuests(of scope: ErasureScope) async throws -> Int {
        var count = 0
        try await forEachIdleGuest(of: scope) { guest in
            if try await delete(guest, of: scope) { count += 1 }
        }
        return count
    }

    package func forEachIdleGuest(of scope: ErasureScope, _ body: (IdleGuest) async throws -> Void) async throws {
        var last: IdleGuest?
        while !Task.isCancelled {
            let guests = try await store.guests(
                idleFor: scope.anonymousRetention, after: last, atMost: Self.guestBatch,
                application: scope.application.id)
            for guest in guests where guest.isIdle { try await body(guest) }
            guard guests.count == Self.guestBatch else { break }
            last = guests.last
        }
    }

    private func delete(_ guest: IdleGuest, of scope: ErasureScope) async throws -> Bool {
        let application = scope.application
        return try await store.retryingTransaction { store in
            let status = try await store.lockAccount(guest.uid, application: application.id)
            guard let status, status.isUndeleted,
                try await store.isIdleGuest(guest.uid, for: scope.anonymousRetention, application: application.id)
            else { return false }
            try await DeletionScheduling(store: store, application: application)
                .schedule(guest.uid, by: .idle, gracePeriod: .zero)
            return true
        }
    }
}
