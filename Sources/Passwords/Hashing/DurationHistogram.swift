package struct DurationHistogram: Sendable, Equatable {
    /// The upper bounds of the buckets in seconds, ascending.
    package let bounds: [Double]
    package private(set) var buckets: [Int]
    package private(set) var count = 0
    /// The sum of all durations.
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
