/// When batches were sealed, as far as can be said: not before those before them.
struct BatchSealTimes {
    private let store: any AuditChainStore
    private var latest: Int?
    /// Of the next batch that says so, while those before it don't.
    private var next: Int??

    init(of store: any AuditChainStore) {
        self.store = store
    }

    /// In microseconds since the epoch; `nil` stands for just now.
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
