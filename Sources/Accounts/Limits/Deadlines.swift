/// Deadlines for a bounded number of keys; if the capacity is exceeded, the latest deadlines are kept.
package struct Deadlines<Key: Hashable & Sendable, Instant: InstantProtocol<Duration>>: Sendable {
    private let capacity: Int
    private var ends: [Key: Instant] = [:]

    package init(capacity: Int) { self.capacity = max(1, capacity) }
    package var count: Int { ends.count }

    package mutating func note(_ key: Key, until end: Instant, now: Instant) {
        if ends[key] == nil, ends.count >= capacity { makeRoom(now) }
        ends[key] = end
    }

    /// - Returns: `nil` when the key has no deadline, or it has passed.
    package mutating func wait(for key: Key, now: Instant) -> Duration? {
        guard let end = ends[key] else { return nil }
        guard end > now else {
            ends[key] = nil
            return nil
        }
        return now.duration(to: end)
    }

    /// Frees at least half of the capacity, so that it is rarely called.
    private mutating func makeRoom(_ now: Instant) {
        ends = ends.filter { $0.value > now }
        guard ends.count > capacity / 2 else { return }
        let longest = ends.sorted { $0.value > $1.value }.prefix(capacity / 2)
        ends = Dictionary(uniqueKeysWithValues: longest.map { ($0.key, $0.value) })
    }
}
