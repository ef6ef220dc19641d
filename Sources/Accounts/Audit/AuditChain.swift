internal import Foundation

/// Seals the audit in batches, so that changes made with write access to the database are detected.
///
/// The MAC of a batch covers its events and the MAC of the previous batch, so that edited, removed or inserted events
/// are detected. The removal of the last batches is detected with a checkpoint; the log contains one for every batch.
package struct AuditChain: Sendable {
    /// How many events one transaction seals, unless more have the time of the last one.
    package static let batchSize = 1000

    private let store: any AuditChainStore
    private let authentication: any AuditAuthentication
    private let time: any TimeSource

    package init(store: any AuditChainStore, authentication: any AuditAuthentication, time: any TimeSource) {
        (self.store, self.authentication, self.time) = (store, authentication, time)
    }

    package func sealAll(onSealed: (AuditCheckpoint) -> Void) async throws {
        guard try await store.hasUnsealedEvents() else { return }
        // `start` is the newest event's time in the previous batch; the next call seals earlier events committed later.
        var (isFull, start): (Bool, Int?) = (true, nil)
        while isFull, !Task.isCancelled {
            guard let batch = try await seal(from: start) else { return }
            onSealed(batch.checkpoint)
            isFull = batch.events >= Self.batchSize
            start = batch.lastAt
        }
    }

    private func seal(from start: Int?) async throws -> AuditBatch? {
        try await store.seal(from: start, count: Self.batchSize) { [authentication, time] last, events in
            let times = events.map(\.at)
            var batch = AuditBatch(
                seq: (last?.seq ?? 0) + 1, previous: last?.mac ?? [], firstAt: times.min() ?? 0,
                lastAt: times.max() ?? 0, sealedAt: Int(time.now().timeIntervalSince1970 * 1_000_000),
                events: events.count, digest: authentication.digest(of: events))
            batch.mac = authentication.mac(of: batch)
            return batch
        }
    }
}
