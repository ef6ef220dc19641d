internal import Foundation
internal import ProviderKit

/// Erasing one account for good, in steps that may each be the last before a crash.
///
/// Its tokens are handed over to be given back; whoever was told of the deletion acknowledges it, or has had its time;
/// the ledger has it; then one transaction removes everything and writes the certificate. Each step finds what the ones
/// before have done, so that running it again from the start does no harm and ends the same.
package struct Erasure: Sendable {
    /// What has just been done; where a crash is followed by another run.
    package enum Step: String, Sendable, CaseIterable {
        case begun, settled, written
        /// Not committed yet.
        case removed
        case concluded
    }

    package enum Progress: Sendable, Equatable {
        /// It was restored, or is over.
        case void
        case waiting(for: [Processor])
        /// With those who never acknowledged it.
        case erased(without: [Processor])
    }

    private let store: any TransactionalStore
    private let opaque: any OpaqueTokens
    private let certification: any ErasureCertification
    private let time: any TimeSource
    private let memory: @Sendable () -> Duration
    private let onStep: @Sendable (Step) async throws -> Void

    /// `memory` is how long an access token may be about after its session has ended; whatever `onStep` throws ends the
    /// run there.
    package init(
        store: any TransactionalStore, opaque: any OpaqueTokens, certification: any ErasureCertification,
        time: any TimeSource, memory: @escaping @Sendable () -> Duration,
        onStep: @escaping @Sendable (Step) async throws -> Void = { _ in }
    ) {
        self.store = store
        self.opaque = opaque
        self.certification = certification
        self.time = time
        self.memory = memory
        self.onStep = onStep
    }

    /// How soon an erasure that waits is looked at again.
    private static let patience: Duration = .seconds(2)
    /// After how long somebody who was given up is told once more.
    private static let reminder: TimeInterval = 3600

    /// As far as it goes by now.
    package func advance(_ erasure: DueErasure, in scope: ErasureScope) async throws -> Progress {
        guard try await begin(erasure) else { return .void }
        try await onStep(.begun)
        guard let standing = try await store.standing(of: erasure) else { return .void }
        let open = standing.processors.filter { !$0.isSettled }
        guard open.isEmpty || standing.waited >= scope.webhookDeadline else {
            try await remind(erasure)
            try await store.postpone(erasure, by: min(Self.patience, scope.webhookDeadline - standing.waited))
            return .waiting(for: open)
        }
        try await onStep(.settled)
        let family = try await store.lockFamily(of: erasure.uid, application: erasure.application)
        guard !family.isEmpty else { return .void }
        let entry = LedgerEntry(
            application: scope.application.name, uid: erasure.uid, aliases: family.filter { $0 != erasure.uid },
            receipt: erasure.receipt, requestedAt: erasure.requestedAt, erasedAt: time.now().wholeMilliseconds)
        try await scope.ledger?.append(entry)
        try await onStep(.written)
        let processors = standing.processors.map(\.concluded)
        guard try await remove(entry, processors: processors, isReplay: false, in: scope.application) else {
            return .void
        }
        try await onStep(.concluded)
        return .erased(without: processors.filter { !$0.isAcknowledged })
    }

    /// Erases at once what the ledger says was erased: a backup has brought it back.
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
                    if try await remove(entry, processors: [], isReplay: true, in: scope.application) { count += 1 }
                }
            }
        }
        return count
    }

    private func begin(_ erasure: DueErasure) async throws -> Bool {
        try await store.wholeDecision { store in
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
    private func remove(
        _ entry: LedgerEntry, processors: [Processor], isReplay: Bool, in application: Application
    ) async throws -> Bool {
        let sign = try await certification.signer(for: application)
        let erasure = DueErasure(
            application: application.id, receipt: entry.receipt, uid: entry.uid, requestedAt: entry.requestedAt)
        return try await store.wholeDecision { store in
            let family = try await store.lockFamily(of: entry.uid, application: application.id)
            guard !family.isEmpty else { return false }
            // A backup knows neither that the account was to be erased nor that its sessions have ended.
            if !isReplay {
                guard try await store.beginErasure(erasure, family: family) else { return false }
            }
            for uid in family {
                _ = try await store.endSessions(.all, of: uid, because: .accountDeleted, application: application.id)
            }
            let traces = try await store.traces(of: family, application: application.id)
            let erased = try await store.erase(
                entry.uid, family: family, traces: opaque.erasable(traces), memory: memory(),
                application: application.id)
            let certificate = ErasureCertificate(
                receipt: entry.receipt, uid: entry.uid, requestedAt: entry.requestedAt, erasedAt: entry.erasedAt,
                erased: erased, processors: processors)
            try await store.conclude(erasure, erasedAt: entry.erasedAt, certificate: sign(certificate))
            if !isReplay {
                try await store.announce(
                    [AccountEvent(.accountErased, of: entry.uid, details: ["receipt": .string(entry.receipt.text)])],
                    application: application.id)
            }
            try await onStep(.removed)
            return true
        }
    }
}

extension LedgerEntry {
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
