internal import Foundation

/// Seals the audit, batch by batch, so that nobody who can write to the database can change it unseen.
///
/// Each batch vouches for its events and for the batch before. What has been sealed can't be edited, removed or added
/// to; what was cut off at the end shows against a checkpoint, which the log has of every batch.
package struct AuditChain: Sendable {
    /// What one transaction seals.
    package static let batchSize = 1000

    private let store: any AuditChainStore
    private let authentication: any AuditAuthentication
    private let time: any TimeSource

    package init(store: any AuditChainStore, authentication: any AuditAuthentication, time: any TimeSource) {
        self.store = store
        self.authentication = authentication
        self.time = time
    }

    /// Seals what is there.
    package func sealAll(onSealed: (AuditCheckpoint) -> Void) async throws {
        guard try await store.hasUnsealedEvents() else { return }
        // Where the batch before has ended: what commits late is found by the next call.
        var (isFull, start): (Bool, Int?) = (true, nil)
        while isFull, !Task.isCancelled {
            guard let batch = try await seal(from: start) else { return }
            onSealed(batch.checkpoint)
            isFull = batch.events == Self.batchSize
            start = batch.lastAt
        }
    }

    private func seal(from start: Int?) async throws -> AuditBatch? {
        try await store.seal(from: start, atMost: Self.batchSize) { [authentication, time] last, events in
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
