/// Counts how many further entries a queue worker may take from each lane.
///
/// A lane without configuration gives one entry per tick. Otherwise each of its entries would be taken and put back
/// again and again, at the expense of requests.
struct LanePlaces<Lane: Hashable & Sendable> {
    /// The greatest number of entries of a lane in progress.
    let concurrency: Int
    /// The number of entries of each lane in progress.
    private var inFlight: [Lane: Int] = [:]
    /// Lanes whose latest entry found no configuration.
    private var unconfigured: Set<Lane> = []
    /// Lanes among them that have used their place since the last tick.
    private var resting: Set<Lane> = []

    init(concurrency: Int) { self.concurrency = concurrency }

    /// The number of entries that may be taken from a lane; `nil` if none.
    func free(_ lane: Lane) -> Int? {
        guard !resting.contains(lane) else { return nil }
        let free = (unconfigured.contains(lane) ? 1 : concurrency) - inFlight[lane, default: 0]
        return free > 0 ? free : nil
    }

    mutating func change(_ lane: Lane, by count: Int) {
        let left = inFlight[lane, default: 0] + count
        inFlight[lane] = left == 0 ? nil : left
    }

    mutating func noteConfigured(_ lane: Lane) { unconfigured.remove(lane) }

    /// Returns whether the lane had a configuration at its previous entry.
    mutating func noteUnconfigured(_ lane: Lane) -> Bool {
        resting.insert(lane)
        return unconfigured.insert(lane).inserted
    }

    mutating func noteTick() { resting = [] }
}
