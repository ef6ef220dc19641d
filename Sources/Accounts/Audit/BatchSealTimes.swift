/// The sealing times of batches, in their order: no batch was sealed before an earlier one.
struct BatchSealTimes {
    private let store: any AuditChainStore
    private var latest: Int?
    /// The time of the next batch that has one, for those before it that have none.
    private var next: Int??

    init(of store: any AuditChainStore) {
        self.store = store
    }

    /// In microseconds since the epoch; `nil` if the batch may have been sealed just now.
    mutating func time(of batch: AuditBatch) async throws -> Int? {
        if let own = batch.sealedAt {
            next = nil
            latest = max(own, latest ?? own)
            return latest
        }
        if next == nil { next = .some(try await store.sealedAt(from: batch.seq)) }
        guard let next, let time = next else { return nil }
        return max(time, latest ?? time)
    }
}
