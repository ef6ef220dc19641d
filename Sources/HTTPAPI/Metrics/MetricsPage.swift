/// A page in Prometheus' text format, version 0.0.4.
package struct MetricsPage {
    private(set) var text = ""
    private var name = ""

    /// A metric that a part of the server reports on request.
    package struct Gauge: Sendable {
        package let name: String
        /// The type in Prometheus' format: `gauge`, `histogram`, or `counter` for a value that never decreases.
        package let type: String
        package let help: String
        package let samples: @Sendable () -> [Sample]
        /// Replaces `samples` if the metric is a histogram.
        let histogram: (@Sendable () -> Histogram)?

        package init(_ name: String, type: String = "gauge", help: String, value: @escaping @Sendable () -> Double) {
            self.init(name, type: type, help: help, samples: { [Sample(value())] })
        }

        /// A metric with one value for each set of labels.
        package init(
            _ name: String, type: String = "gauge", help: String, samples: @escaping @Sendable () -> [Sample]
        ) {
            self.name = name
            self.type = type
            self.help = help
            self.samples = samples
            histogram = nil
        }

        package init(_ name: String, help: String, histogram: @escaping @Sendable () -> Histogram) {
            self.name = name
            self.help = help
            type = "histogram"
            samples = { [] }
            self.histogram = histogram
        }
    }

    /// A value and its labels.
    package struct Sample: Sendable {
        package let labels: [(String, String)]
        package let value: Double

        package init(_ value: Double, labels: [(String, String)] = []) {
            self.value = value
            self.labels = labels
        }
    }

    /// Counts values by bucket.
    package struct Histogram: Sendable {
        /// Upper bounds, in ascending order.
        let bounds: [Double]
        /// For each bound, the number of values that are at most this bound and greater than the previous one.
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
}

extension MetricsPage {
    mutating func begin(_ name: String, type: String, help: String) {
        self.name = "gatehouse_" + name
        text += "# HELP \(self.name) \(help)\n# TYPE \(self.name) \(type)\n"
    }

    mutating func add(_ value: Double, suffix: String = "", labels: [(String, String)] = []) {
        let list = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        text += "\(name)\(suffix)\(list.isEmpty ? "" : "{\(list)}") \(value)\n"
    }

    mutating func add(_ gauge: Gauge) {
        begin(gauge.name, type: gauge.type, help: gauge.help)
        for sample in gauge.samples() { add(sample.value, labels: sample.labels) }
        if let histogram = gauge.histogram { add(histogram()) }
    }

    /// Adds a histogram; in Prometheus' format the count of each bucket includes all smaller buckets.
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

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
