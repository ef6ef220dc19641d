internal import Foundation

package struct AuditReport: Sendable, Equatable {
    package var batches = 0
    package var events = 0
    /// The number of events that are not sealed yet, and so cannot be verified.
    package var unsealed = 0
    package var last: AuditCheckpoint?
}

/// The first fault in the chain.
package struct AuditFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The number of the faulty batch; `nil` if the fault concerns events outside any batch.
    package let batch: Int?
    package let reason: String

    package init(batch: Int? = nil, reason: String) { (self.batch, self.reason) = (batch, reason) }
    package var description: String { batch.map { "batch \($0) \(reason)" } ?? reason }
}

/// Verifies the chain from its first remaining batch to its last, in constant memory.
///
/// Batches may be missing only if they were sealed before the retention period. The age of a batch is computed from its
/// sealing time, which the MAC covers, because the times of events can be forged with write access to the database.
package struct AuditVerification: Sendable {
    private static let batchesAtOnce = 200
    private static let eventsAtOnce = 5000
    /// The longest time that an event may remain unsealed, which is much longer than in normal operation.
    private static let patience: Duration = .seconds(60)

    private let store: any AuditChainStore
    private let authentication: any AuditAuthentication
    private let time: any TimeSource

    package init(store: any AuditChainStore, authentication: any AuditAuthentication, time: any TimeSource) {
        (self.store, self.authentication, self.time) = (store, authentication, time)
    }

    /// Verifies the whole chain, which must contain the checkpoint if there is one.
    /// - Throws: `AuditFault`.
    package func verify(through checkpoint: AuditCheckpoint?) async throws -> AuditReport {
        var report = AuditReport()
        report.unsealed = try await checkSealing()
        var first: AuditBatch?
        var sealing = BatchSealTimes(of: store)
        while let batches = try await secondLook({
            try await unread(from: first, to: report.last, checkpoint: checkpoint)
        }) {
            var vouched: ArraySlice<AuditBatch> = []
            for batch in batches {
                try check(batch, after: report.last, checkpoint: checkpoint)
                let isPastRetention = isPastRetention(try await sealing.time(of: batch))
                if first == nil {
                    try checkBeginning(batch, isPastRetention: isPastRetention, checkpoint: checkpoint)
                    first = batch
                }
                // Events past retention may be removed already, so only the events of younger batches are checked.
                // Sealing times never decrease, so the younger batches are consecutive.
                if !isPastRetention { vouched.append(batch) }
                report.last = batch.checkpoint
            }
            report.batches += batches.count
            report.events += try await secondLook { try await checkEvents(of: vouched) }
        }
        return report
    }

    /// Makes a check that finds a fault once more, a moment later.
    ///
    /// A batch that is sealed during the verification is visible together with its events on one node, but not on Citus,
    /// whose nodes commit one after the other.
    private func secondLook<Value>(_ check: () async throws -> Value) async throws -> Value {
        do {
            return try await check()
        } catch is AuditFault {
            try await Task.sleep(for: .milliseconds(500))
            return try await check()
        }
    }

    /// Returns the batches after the last one that was read, or `nil` if the chain ends there as it must.
    private func unread(
        from first: AuditBatch?, to last: AuditCheckpoint?, checkpoint: AuditCheckpoint?
    ) async throws -> [AuditBatch]? {
        let batches = try await nextBatches(after: last?.seq ?? 0)
        guard batches.isEmpty else { return batches }
        if let checkpoint, checkpoint.seq > last?.seq ?? 0 {
            throw AuditFault(batch: checkpoint.seq, reason: "of the checkpoint is missing: the end was cut off")
        }
        if let fault = try await strayEvent(from: first, to: last) { throw fault }
        return nil
    }

    /// Returns the following batches, at most as many as one query can read the events of.
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
    }

    /// Checks that the batches before the first one are missing only because they were past retention.
    private func checkBeginning(_ first: AuditBatch, isPastRetention: Bool, checkpoint: AuditCheckpoint?) throws {
        guard first.seq == 1 || isPastRetention else {
            throw AuditFault(batch: first.seq - 1, reason: "is missing, and was not old enough to be removed")
        }
        if let checkpoint, checkpoint.seq < first.seq {
            throw AuditFault(
                batch: checkpoint.seq, reason: "of the checkpoint is past retention: ask with a newer checkpoint")
        }
    }

    private func checkEvents(of batches: ArraySlice<AuditBatch>) async throws -> Int {
        guard let first = batches.first, let last = batches.last else { return 0 }
        let expected = batches.reduce(0) { $0 + $1.events }
        var rest = try await store.events(ofBatches: first.seq...last.seq, atMost: expected + 1)[...]
        for batch in batches {
            let own = rest.prefix { $0.batch == batch.seq }
            rest = rest.dropFirst(own.count)
            guard own.count == batch.events else {
                let found = own.count < batch.events ? "lacks an event" : "has an event too many"
                throw AuditFault(batch: batch.seq, reason: found)
            }
            guard authentication.digest(of: own.map(\.event)) == batch.digest else {
                throw AuditFault(batch: batch.seq, reason: "has an event that was changed")
            }
        }
        return expected
    }

    private func checkSealing() async throws -> Int {
        let unsealed = try await store.unsealedEvents()
        guard unsealed.oldest < Self.patience else {
            throw AuditFault(reason: "an event has been waiting for its seal for more than a minute")
        }
        return unsealed.count
    }

    /// The fault of an event whose batch is not in the chain; `nil` if there is no such event.
    private func strayEvent(from first: AuditBatch?, to last: AuditCheckpoint?) async throws -> AuditFault? {
        let known = (first?.seq ?? 1)...max(last?.seq ?? 0, first?.seq ?? 1)
        if let stray = try await store.strayBatch(outside: known) {
            return AuditFault(batch: stray, reason: "was never sealed, and has an event")
        }
        guard first == nil, let stray = try await store.events(ofBatches: known, atMost: 1).first else { return nil }
        return AuditFault(batch: stray.batch, reason: "is missing")
    }

    private func isPastRetention(_ microseconds: Int?) -> Bool {
        guard let microseconds else { return false }
        let seconds = Double(AuditRetention.events.components.seconds)
        return Double(microseconds) / 1_000_000 < time.now().timeIntervalSince1970 - seconds
    }
}
