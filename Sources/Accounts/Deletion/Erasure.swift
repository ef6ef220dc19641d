internal import Foundation
internal import ProviderKit

/// Erases one account permanently, in steps: if the process crashes after a step, the next run completes the erasure.
///
/// | step | what is done | what the next run finds after a crash |
/// |---|---|---|
/// | begun | the account cannot be restored; its provider tokens are queued to be revoked | the same state |
/// | settled | every processor has acknowledged the deletion, or the deadline has passed | the same state |
/// | removed | the account is removed and the certificate written, not yet committed | the account |
/// | written | the ledger has an entry | the account, and a ledger entry that says it must be erased |
/// | concluded | the transaction is committed | nothing to do |
package struct Erasure: Sendable {
    package typealias Store = ErasureStore & ErasureQueue & AliasStore & MergeUndoStore & AccountLocks & SessionEndStore
        & EventOutbox & EventDeliveryStore

    package enum Step: String, Sendable, CaseIterable { case begun, settled, removed, written, concluded }

    package enum Progress: Sendable, Equatable {
        /// The account was restored, or is erased already.
        case void
        case waiting(for: [Processor])
        /// The account is erased; these processors never acknowledged the deletion.
        case erased(without: [Processor])
    }

    private struct Removal {
        let entry: LedgerEntry
        /// The processors as the certificate lists them.
        let processors: [Processor]
        /// Whether the database has a row for the erasure; one that only the ledger contains is carried out without.
        let isScheduled: Bool
        /// The ledger to append the entry to; `nil` if it already contains the entry, or none is configured.
        let ledger: (any ErasureLedger)?
    }

    private let store: any TransactionalStore & Store
    private let opaque: any OpaqueTokens
    private let certification: any ErasureCertification
    private let time: any TimeSource
    private let onStep: @Sendable (Step) async throws -> Void

    /// `onStep` runs after each step and ends the run by throwing.
    package init(
        store: any TransactionalStore & Store, opaque: any OpaqueTokens, certification: any ErasureCertification,
        time: any TimeSource, onStep: @escaping @Sendable (Step) async throws -> Void = { _ in }
    ) {
        self.store = store
        self.opaque = opaque
        self.certification = certification
        self.time = time
        self.onStep = onStep
    }

    /// The first and the longest pause before pending processors are checked again, unless one acknowledges earlier.
    private static let patience = (first: Duration.seconds(2), longest: Duration.seconds(1800))
    /// How long after its last attempt an abandoned delivery is tried again, in seconds.
    private static let reminder: TimeInterval = 3600

    /// Carries out all steps of the erasure that are possible now.
    package func advance(_ erasure: DueErasure, in scope: ErasureScope) async throws -> Progress {
        guard try await begin(erasure) else { return .void }
        try await onStep(.begun)
        guard let state = try await store.state(of: erasure) else { return .void }
        let open = state.processors.filter { !$0.isSettled }
        guard open.isEmpty || state.waited >= scope.webhookDeadline else {
            try await remind(erasure)
            try await store.postpone(erasure, by: Self.pause(after: state.waited, of: scope.webhookDeadline))
            return .waiting(for: open)
        }
        try await onStep(.settled)
        let entry = LedgerEntry(
            application: scope.application.name, uid: erasure.uid, aliases: [], receipt: erasure.receipt,
            requestedAt: erasure.requestedAt, erasedAt: time.now().wholeMilliseconds)
        let processors = state.processors.map(\.concluded)
        let removal = Removal(entry: entry, processors: processors, isScheduled: true, ledger: scope.ledger)
        guard try await carryOut(removal, in: scope.application) else { return .void }
        try await onStep(.concluded)
        return .erased(without: processors.filter { !$0.isAcknowledged })
    }

    /// Erases the accounts that the ledger contains but that exist, because a backup was restored or a server crashed.
    package func replay(in scope: ErasureScope) async throws -> Int {
        guard let ledger = scope.ledger else { return 0 }
        let entries = try await ledger.entries().filter { $0.application == scope.application.name }
        var count = 0
        for start in stride(from: 0, to: entries.count, by: 1000) {
            let batch = entries[start..<min(start + 1000, entries.count)]
            let existing = Set(
                try await store.existing(batch.flatMap { [$0.uid] + $0.aliases }, application: scope.application.id))
            for entry in batch {
                for entry in [entry] + entry.ofAliases where existing.contains(entry.uid) {
                    if try await replay(entry, in: scope.application) { count += 1 }
                }
            }
        }
        return count
    }

    /// Erases one account of the ledger, and announces that if the erasure had begun when the backup was made.
    private func replay(_ entry: LedgerEntry, in application: Application) async throws -> Bool {
        try await undoMerges(notIn: entry, in: application)
        let erasure = DueErasure(entry, application: application.id)
        let state = try await store.state(of: erasure)
        let processors = state?.processors.map(\.concluded) ?? []
        return try await carryOut(
            Removal(entry: entry, processors: processors, isScheduled: state?.hasBegun == true, ledger: nil),
            in: application)
    }

    /// Undoes the merges that were undone after the backup was made, so that only the entry's accounts are erased.
    private func undoMerges(notIn entry: LedgerEntry, in application: Application) async throws {
        let named = Set([entry.uid] + entry.aliases)
        try await store.retryingTransaction { store in
            let root = try await store.resolve(entry.uid, application: application.id)
            for merge in try await store.merges(of: root, application: application.id)
            where merge.undoneAt == nil && named.contains(merge.survivor) != named.contains(merge.absorbed) {
                try await store.lock(
                    [merge.survivor, merge.absorbed], session: nil, application: application.id)
                let passwords = try await store.sharedPasswords(of: merge, application: application.id)
                try await store.undo(merge, evenIfLate: true, application: application.id)
                try await store.endSessions(ofUndone: merge, sharing: passwords, application: application.id)
            }
        }
    }

    private static func pause(after waited: Duration, of deadline: Duration) -> Duration {
        max(.seconds(1), min(max(patience.first, waited / 4), patience.longest, deadline - waited))
    }

    private func begin(_ erasure: DueErasure) async throws -> Bool {
        try await store.retryingTransaction { store in
            let family = try await store.lockFamily(of: erasure.uid, application: erasure.application)
            return try await store.beginErasure(erasure, family: family)
        }
    }

    /// Retries the unacknowledged deliveries if one of them was abandoned longer than `reminder` ago.
    private func remind(_ erasure: DueErasure) async throws {
        let deliveries = try await store.deliveries(
            ofLast: .accountDeleted, about: erasure.uid, application: erasure.application)
        let isForgotten = deliveries.contains { delivery in
            delivery.givenUpAt.map { time.now().timeIntervalSince($0) > Self.reminder } ?? false
        }
        guard isForgotten, let event = deliveries.first?.event else { return }
        try await store.retryUnacknowledged(of: event, application: erasure.application)
    }

    /// - Returns: `false` if the account no longer exists, or its erasure is not due or already concluded.
    private func carryOut(_ removal: Removal, in application: Application) async throws -> Bool {
        let sign = try await certification.signer(for: application)
        let entry = removal.entry
        let erasure = DueErasure(entry, application: application.id)
        return try await store.retryingTransaction { store in
            let family = try await store.lockFamily(of: entry.uid, application: application.id)
            guard !family.isEmpty else { return false }
            // A restored backup may contain neither the erasure nor the end of the sessions.
            if removal.isScheduled {
                guard try await store.beginErasure(erasure, family: family) else { return false }
            }
            for uid in family {
                try await store.endSessions(.all, of: uid, because: .accountDeleted, application: application.id)
            }
            let traces = try await store.traces(of: family, application: application.id)
            let erased = try await store.erase(
                entry.uid, family: family, traces: opaque.erasable(traces, of: family),
                memory: ApplicationPolicy.Tokens.longestAccessLifetime, application: application.id)
            let certificate = ErasureCertificate(
                receipt: entry.receipt, uid: entry.uid, requestedAt: entry.requestedAt, erasedAt: entry.erasedAt,
                erased: erased, processors: removal.processors)
            try await store.conclude(
                erasure, family: family, erasedAt: entry.erasedAt, certificate: sign(certificate))
            if removal.isScheduled {
                var details: [String: JSONValue] = ["receipt": .string(entry.receipt.text)]
                if !erased.aliases.isEmpty { details["aliases"] = .array(erased.aliases.map { .string($0.text) }) }
                try await store.announce(
                    [AccountEvent(.accountErased, of: entry.uid, details: details)], application: application.id)
            }
            try await onStep(.removed)
            // The entry is written while the account is locked, so that the ledger never contains a live account.
            try await removal.ledger?.append(entry.naming(erased.aliases))
            try await onStep(.written)
            return true
        }
    }
}

extension DueErasure {
    fileprivate init(_ entry: LedgerEntry, application: Application.ID) {
        self.init(application: application, receipt: entry.receipt, uid: entry.uid, requestedAt: entry.requestedAt)
    }
}

extension LedgerEntry {
    fileprivate func naming(_ aliases: [UUID]) -> LedgerEntry {
        LedgerEntry(
            application: application, uid: uid, aliases: aliases, receipt: receipt, requestedAt: requestedAt,
            erasedAt: erasedAt)
    }

    /// Entries for the aliases, with new receipts, since a receipt belongs to one account.
    fileprivate var ofAliases: [LedgerEntry] {
        aliases.map { uid in
            LedgerEntry(
                application: application, uid: uid, aliases: [], receipt: UUID(), requestedAt: requestedAt,
                erasedAt: erasedAt)
        }
    }
}

extension Date {
    /// The time rounded to milliseconds, the precision of the ledger.
    fileprivate var wholeMilliseconds: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded() / 1000)
    }
}
