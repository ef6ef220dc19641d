/// How often something took how long.
package struct DurationHistogram: Sendable, Equatable {
    /// Upper bounds in seconds, rising.
    package let bounds: [Double]
    /// For each bound, how many took at most so long and longer than the bound before.
    package private(set) var buckets: [Int]
    package private(set) var count = 0
    /// Of all together.
    package private(set) var seconds = 0.0

    package init(bounds: [Double]) {
        self.bounds = bounds
        buckets = Array(repeating: 0, count: bounds.count)
    }

    package mutating func record(_ duration: Duration) {
        let seconds = duration / .seconds(1)
        count += 1
        self.seconds += seconds
        if let bucket = bounds.firstIndex(where: { seconds <= $0 }) { buckets[bucket] += 1 }
    }
}
