/// The sealing times of successive batches, which never decrease.
struct BatchSealTimes {
    private let store: any AuditChainStore
    private var latest: Int?
    /// The cached answer of `sealedAt(from:)`: a batch without a sealing time gets that of the next batch that has one.
    private var next: Int??

    init(of store: any AuditChainStore) { self.store = store }

    /// Returns the latest time at which the batch can have been sealed, in microseconds since the epoch.
    /// - Returns: `nil` if neither the batch nor a later one has a sealing time; it may have been sealed just now.
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
