internal import Foundation

/// What a chain that holds was found to be.
package struct AuditReport: Sendable, Equatable {
    package var batches = 0
    package var events = 0
    /// Not sealed yet, and so not vouched for.
    package var unsealed = 0
    package var last: AuditCheckpoint?
}

/// The first thing that is wrong with the chain.
package struct AuditFault: Error, Sendable, Equatable, CustomStringConvertible {
    package let batch: Int
    package let reason: String

    package init(batch: Int, reason: String) {
        self.batch = batch
        self.reason = reason
    }

    package var description: String { "batch \(batch) \(reason)" }
}

/// Follows the chain from its beginning, or from what retention has left of it, in constant memory.
package struct AuditVerification: Sendable {
    private static let batchesAtOnce = 200
    private static let eventsAtOnce = 5000

    private let store: any AuditChainStore
    private let authentication: any AuditAuthentication
    private let time: any TimeSource

    package init(store: any AuditChainStore, authentication: any AuditAuthentication, time: any TimeSource) {
        self.store = store
        self.authentication = authentication
        self.time = time
    }

    /// With a checkpoint the chain must lead through it.
    /// - Throws: `AuditFault`.
    package func verify(through checkpoint: AuditCheckpoint?) async throws -> AuditReport {
        var report = AuditReport()
        report.unsealed = try await store.unsealedEvents()
        var first: AuditBatch?
        var batches = try await nextBatches(after: 0)
        while !batches.isEmpty {
            for batch in batches {
                if first == nil { first = batch }
                try check(batch, after: report.last, checkpoint: checkpoint)
                report.last = batch.checkpoint
            }
            report.batches += batches.count
            report.events += try await checkEvents(of: batches, isBeginning: first == batches.first)
            batches = try await nextBatches(after: report.last?.seq ?? 0)
        }
        try await checkEnds(from: first, to: report.last, checkpoint: checkpoint)
        return report
    }

    /// As many as one question for their events may be about.
    private func nextBatches(after seq: Int) async throws -> [AuditBatch] {
        var events = 0
        return try await store.batches(after: seq, atMost: Self.batchesAtOnce).enumerated().prefix { index, batch in
            events += min(max(0, batch.events), Self.eventsAtOnce)
            return index == 0 || events <= Self.eventsAtOnce
        }.map(\.element)
    }

    private func check(_ batch: AuditBatch, after last: AuditCheckpoint?, checkpoint: AuditCheckpoint?) throws {
        if let last {
            guard batch.seq == last.seq + 1 else { throw AuditFault(batch: last.seq + 1, reason: "is missing") }
            guard batch.previous == last.mac else {
                throw AuditFault(batch: batch.seq, reason: "does not follow the one before")
            }
        } else if batch.seq == 1, !batch.previous.isEmpty {
            throw AuditFault(batch: 1, reason: "is not the first")
        }
        guard authentication.isMAC(batch.mac, of: batch) else {
            throw AuditFault(batch: batch.seq, reason: "was changed")
        }
        if let checkpoint, checkpoint.seq == batch.seq, checkpoint.mac != batch.mac {
            throw AuditFault(batch: batch.seq, reason: "is not the one that the checkpoint is of")
        }
        // What retention took away was old by then, and left its last batch.
        if last == nil, batch.seq > 1, !isPastRetention(batch.lastAt) {
            throw AuditFault(batch: batch.seq - 1, reason: "is missing, and was not old enough to be removed")
        }
    }

    /// - Returns: how many events were looked at.
    private func checkEvents(of batches: [AuditBatch], isBeginning: Bool) async throws -> Int {
        guard let first = batches.first, let last = batches.last else { return 0 }
        let expected = batches.reduce(0) { $0 + $1.events }
        let rows = try await store.events(ofBatches: first.seq...last.seq, atMost: expected + 1)
        var looked = 0
        var rest = rows[...]
        for batch in batches {
            let own = rest.prefix { $0.batch == batch.seq }
            rest = rest.dropFirst(own.count)
            // Their month, or the half of it that retention has come to, may be gone.
            guard !isPastRetention(batch.firstAt) else { continue }
            guard own.count == batch.events else {
                let found = own.count < batch.events ? "lacks an event" : "has an event too many"
                throw AuditFault(batch: batch.seq, reason: found)
            }
            guard authentication.digest(of: own.map(\.event)) == batch.digest else {
                throw AuditFault(batch: batch.seq, reason: "has an event that was changed")
            }
            looked += own.count
        }
        return looked
    }

    private func checkEnds(
        from first: AuditBatch?, to last: AuditCheckpoint?, checkpoint: AuditCheckpoint?
    ) async throws {
        if let checkpoint, checkpoint.seq > last?.seq ?? 0 {
            throw AuditFault(batch: checkpoint.seq, reason: "of the checkpoint is missing: the end was cut off")
        }
        let known = (first?.seq ?? 1)...max(last?.seq ?? 0, first?.seq ?? 1)
        if let stray = try await store.strayBatch(outside: known) {
            throw AuditFault(batch: stray, reason: "was never sealed, and has an event")
        }
        guard first == nil, let stray = try await store.events(ofBatches: known, atMost: 1).first else { return }
        throw AuditFault(batch: stray.batch, reason: "is missing")
    }

    private func isPastRetention(_ microseconds: Int) -> Bool {
        let seconds = Double(AuditRetention.events.components.seconds)
        return Double(microseconds) / 1_000_000 < time.now().timeIntervalSince1970 - seconds
    }
}
