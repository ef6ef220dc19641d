package import Foundation

/// Erasing whatever is due, in small batches, of all applications.
package struct Purge: Sendable {
    /// What became of one erasure.
    package struct Outcome: Sendable {
        package let erasure: DueErasure
        package let progress: Result<Erasure.Progress, any Error>
    }

    private let store: any TransactionalStore
    private let erasure: Erasure

    package init(store: any TransactionalStore, erasure: Erasure) {
        self.store = store
        self.erasure = erasure
    }

    /// Few at a time, so that a lease covers them however slow the ledger's disk is.
    private static let batch = 50
    /// Longer than a batch takes; what a crash has left is taken up again after it.
    private static let lease: Duration = .seconds(30)
    private static let guestBatch = 200

    /// One batch of what is due.
    ///
    /// One that fails delays no other; it is taken up again when its lease ends.
    package func eraseBatch(of scopes: [ErasureScope]) async throws -> [Outcome] {
        let known = Dictionary(scopes.map { ($0.application.id, $0) }) { first, _ in first }
        let due = try await store.takeErasures(of: Array(known.keys), atMost: Self.batch, lease: Self.lease)
        var outcomes: [Outcome] = []
        for due in due {
            guard let scope = known[due.application] else { continue }
            do {
                outcomes.append(Outcome(erasure: due, progress: .success(try await erasure.advance(due, in: scope))))
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                outcomes.append(Outcome(erasure: due, progress: .failure(error)))
            }
        }
        return outcomes
    }

    /// One erasure, as far as it goes by now, whether or not its grace period is over and whoever else has it.
    ///
    /// - Throws: `AccountsError.accountNotFound`; `AccountsError.accountIsLive` for one that nobody has asked to delete.
    package func erase(_ uid: UUID, in scope: ErasureScope) async throws -> Erasure.Progress {
        let application = scope.application.id
        let erasure = try await scheduled(uid, in: scope.application)
        try await store.wholeDecision { store in
            guard case .deleted = try await store.lockAccount(erasure.uid, application: application) else { return }
            try await store.skipGracePeriod(of: erasure.uid, application: application)
        }
        return try await self.erasure.advance(erasure, in: scope)
    }

    /// The erasure that is scheduled for the account, or for the one that has absorbed it.
    ///
    /// - Throws: as `erase`.
    package func scheduled(_ uid: UUID, in application: Application) async throws -> DueErasure {
        let uid = try await store.resolve(uid, application: application.id)
        if let erasure = try await store.scheduledErasure(of: uid, application: application.id) { return erasure }
        guard try await store.existing([uid], application: application.id).isEmpty else {
            throw AccountsError.accountIsLive(uid)
        }
        throw AccountsError.accountNotFound(uid)
    }

    /// Tells everybody at once who has not acknowledged it yet.
    package func retry(_ erasure: DueErasure) async throws {
        let deliveries = try await store.acknowledgements(
            ofLast: .accountDeleted, about: erasure.uid, application: erasure.application)
        if let event = deliveries.first?.event {
            try await store.retryUnacknowledged(of: event, application: erasure.application)
        }
        try await store.retryRevocations(of: erasure.uid, application: erasure.application)
    }

    /// Whom the erasure still waits for.
    package func processors(of erasure: DueErasure) async throws -> [Processor] {
        try await store.standing(of: erasure)?.processors ?? []
    }

    /// Deletes guests whom nobody has heard of for as long as their application keeps them, without grace.
    ///
    /// - Returns: how many those were.
    package func deleteIdleGuests(of scope: ErasureScope) async throws -> Int {
        var (count, last): (Int, IdleGuest?) = (0, nil)
        while !Task.isCancelled {
            let guests = try await store.guests(
                idleFor: scope.anonymousRetention, after: last, atMost: Self.guestBatch,
                application: scope.application.id)
            for guest in guests where guest.isIdle {
                if try await delete(guest, of: scope) { count += 1 }
            }
            guard guests.count == Self.guestBatch else { break }
            last = guests.last
        }
        return count
    }

    private func delete(_ guest: IdleGuest, of scope: ErasureScope) async throws -> Bool {
        let application = scope.application
        return try await store.wholeDecision { store in
            let status = try await store.lockAccount(guest.uid, application: application.id)
            guard status == .live || status == .disabled,
                try await store.isIdleGuest(
                    guest.uid, for: scope.anonymousRetention, application: application.id)
            else { return false }
            try await store.beginDeletion(of: guest.uid, receipt: UUID(), gracePeriod: .zero, in: application)
            return true
        }
    }
}
