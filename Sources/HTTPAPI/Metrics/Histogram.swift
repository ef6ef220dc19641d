extension MetricsPage {
    /// How often a value fell below each of some bounds.
    package struct Histogram: Sendable {
        /// Rising.
        let bounds: [Double]
        /// For each bound, how many were at most that and more than the bound before.
        var buckets: [Int]
        var count: Int
        var sum: Double

        package init(bounds: [Double], buckets: [Int], count: Int, sum: Double) {
            self.bounds = bounds
            self.buckets = buckets
            self.count = count
            self.sum = sum
        }

        mutating func record(_ value: Double) {
            count += 1
            sum += value
            if let bucket = bounds.firstIndex(where: { value <= $0 }) { buckets[bucket] += 1 }
        }
    }

    /// The page counts upwards: each bucket holds all below it.
    mutating func add(_ histogram: Histogram, labels: [(String, String)] = []) {
        var total = 0
        for (bound, count) in zip(histogram.bounds, histogram.buckets) {
            total += count
            add(Double(total), suffix: "_bucket", labels: labels + [("le", "\(bound)")])
        }
        add(Double(histogram.count), suffix: "_bucket", labels: labels + [("le", "+Inf")])
        add(histogram.sum, suffix: "_sum", labels: labels)
        add(Double(histogram.count), suffix: "_count", labels: labels)
    }
}
