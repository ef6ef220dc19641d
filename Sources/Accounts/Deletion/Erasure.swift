internal import Foundation
internal import ProviderKit

/// Erasing one account for good, in steps that may each be the last before a crash.
///
/// | step | what has been done | what another run finds |
/// |---|---|---|
/// | begun | nobody can restore it; its tokens are handed over to be given back | the same, again |
/// | settled | whoever was told of the deletion has acknowledged it, or has had its time | the same, again |
/// | removed | the account and all that is about it, the certificate written; not committed yet | the account, still there |
/// | written | the ledger has it | the account, still there, and a line that says that it must not be |
/// | concluded | committed | nothing to do |
package struct Erasure: Sendable {
    package typealias Store = ErasureStore & ErasureQueue & AliasStore & MergeUndoStore & AccountLocks & SessionEndStore
        & EventOutbox & EventDeliveryStore

    /// What has just been done; where a crash is followed by another run.
    package enum Step: String, Sendable, CaseIterable {
        case begun, settled, removed, written, concluded
    }

    package enum Progress: Sendable, Equatable {
        /// It was restored, or is over.
        case void
        case waiting(for: [Processor])
        /// With those who never acknowledged it.
        case erased(without: [Processor])
    }

    /// How the account is removed.
    private struct Removal {
        let entry: LedgerEntry
        /// As they are certified.
        let processors: [Processor]
        /// Whether it is on its way in the database; one that only the ledger knows of is removed regardless.
        let isScheduled: Bool
        /// None where it has the entry already.
        let ledger: (any ErasureLedger)?
    }

    private let store: any TransactionalStore & Store
    private let opaque: any OpaqueTokens
    private let certification: any ErasureCertification
    private let time: any TimeSource
    private let onStep: @Sendable (Step) async throws -> Void

    /// What `onStep` throws ends the run there.
    package init(
        store: any TransactionalStore & Store, opaque: any OpaqueTokens, certification: any ErasureCertification,
        time: any TimeSource,
        onStep: @escaping @Sendable (Step) async throws -> Void = { _ in }
    ) {
        self.store = store
        self.opaque = opaque
        self.certification = certification
        self.time = time
        self.onStep = onStep
    }

    /// How soon an erasure that waits is looked at again; an acknowledgement wakes it earlier.
    private static let patience = (first: Duration.seconds(2), longest: Duration.seconds(1800))
    /// After how long somebody who was given up is told once more.
    private static let reminder: TimeInterval = 3600

    /// As far as it goes by now.
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

    /// Erases at once what the ledger says was erased: a backup has brought it back, or a crash has left it.
    ///
    /// - Returns: how many accounts that were.
    package func replay(in scope: ErasureScope) async throws -> Int {
        guard let ledger = scope.ledger else { return 0 }
        let entries = try await ledger.entries().filter { $0.application == scope.application.name }
        var count = 0
        for start in stride(from: 0, to: entries.count, by: 1000) {
            let batch = entries[start..<min(start + 1000, entries.count)]
            let existing = Set(
                try await store.existing(
                    batch.flatMap { [$0.uid] + $0.aliases }, application: scope.application.id))
            for entry in batch {
                for entry in [entry] + entry.ofAliases where existing.contains(entry.uid) {
                    if try await replay(entry, in: scope.application) { count += 1 }
                }
            }
        }
        return count
    }

    /// An erasure that had begun when the database was left is finished as it would have been.
    private func replay(_ entry: LedgerEntry, in application: Application) async throws -> Bool {
        try await partAsLedgerHasIt(entry, in: application)
        let erasure = DueErasure(entry, application: application.id)
        let state = try await store.state(of: erasure)
        let processors = state?.processors.map(\.concluded) ?? []
        return try await carryOut(
            Removal(entry: entry, processors: processors, isScheduled: state?.hasBegun == true, ledger: nil),
            in: application)
    }

    /// A merge that the backup still has and that was undone after it must not take others along, nor hide anybody.
    private func partAsLedgerHasIt(_ entry: LedgerEntry, in application: Application) async throws {
        let named = Set([entry.uid] + entry.aliases)
        try await store.retryingTransaction { store in
            let root = try await store.resolve(entry.uid, application: application.id)
            for merge in try await store.merges(of: root, application: application.id)
            where merge.undoneAt == nil && named.contains(merge.survivor) != named.contains(merge.absorbed) {
                try await store.lockAccounts([merge.survivor, merge.absorbed], application: application.id)
                _ = try await store.undo(merge, evenIfLate: true, application: application.id)
                for identity in merge.identities {
                    try await store.endSessions(
                        .openedBy(identity), of: merge.survivor, because: .mergeUndone, application: application.id)
                }
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

    /// Tells those again who were given up long ago: the time that they have is not over.
    private func remind(_ erasure: DueErasure) async throws {
        let deliveries = try await store.acknowledgements(
            ofLast: .accountDeleted, about: erasure.uid, application: erasure.application)
        let isForgotten = deliveries.contains { delivery in
            if case .givenUp(let at) = delivery.status {
                time.now().timeIntervalSince(at) > Self.reminder
            } else {
                false
            }
        }
        guard isForgotten, let event = deliveries.first?.event else { return }
        try await store.retryUnacknowledged(of: event, application: erasure.application)
    }

    /// - Returns: `false` where the account was gone already.
    private func carryOut(_ removal: Removal, in application: Application) async throws -> Bool {
        let sign = try await certification.signer(for: application)
        let entry = removal.entry
        let erasure = DueErasure(entry, application: application.id)
        return try await store.retryingTransaction { store in
            let family = try await store.lockFamily(of: entry.uid, application: application.id)
            guard !family.isEmpty else { return false }
            // A backup knows neither that the account was to be erased nor that its sessions have ended.
            if removal.isScheduled {
                guard try await store.beginErasure(erasure, family: family) else { return false }
            }
            for uid in family {
                try await store.endSessions(.all, of: uid, because: .accountDeleted, application: application.id)
            }
            let traces = try await store.traces(of: family, application: application.id)
            let erased = try await store.erase(
                entry.uid, family: family, traces: opaque.erasable(traces),
                memory: ApplicationPolicy.Tokens.longestAccessLifetime,
                application: application.id)
            let certificate = ErasureCertificate(
                receipt: entry.receipt, uid: entry.uid, requestedAt: entry.requestedAt, erasedAt: entry.erasedAt,
                erased: erased, processors: removal.processors)
            try await store.conclude(erasure, erasedAt: entry.erasedAt, certificate: sign(certificate))
            if removal.isScheduled {
                var details: [String: JSONValue] = ["receipt": .string(entry.receipt.text)]
                if !erased.aliases.isEmpty { details["aliases"] = .array(erased.aliases.map { .string($0.text) }) }
                try await store.announce(
                    [AccountEvent(.accountErased, of: entry.uid, details: details)], application: application.id)
            }
            try await onStep(.removed)
            // While the account is locked, so that none that lives on is ever in it.
            try await removal.ledger?.append(entry.naming(erased.aliases))
            try await onStep(.written)
            return true
        }
    }
}

extension DueErasure {
    fileprivate init(_ entry: LedgerEntry, application: Application.ID) {
        self.init(
            application: application, receipt: entry.receipt, uid: entry.uid, requestedAt: entry.requestedAt)
    }
}

extension LedgerEntry {
    fileprivate func naming(_ aliases: [UUID]) -> LedgerEntry {
        LedgerEntry(
            application: application, uid: uid, aliases: aliases, receipt: receipt, requestedAt: requestedAt,
            erasedAt: erasedAt)
    }

    /// A receipt is one account's: these never had one.
    fileprivate var ofAliases: [LedgerEntry] {
        aliases.map { uid in
            LedgerEntry(
                application: application, uid: uid, aliases: [], receipt: UUID(), requestedAt: requestedAt,
                erasedAt: erasedAt)
        }
    }
}

extension Date {
    /// As it is written down.
    fileprivate var wholeMilliseconds: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded() / 1000)
    }
}
