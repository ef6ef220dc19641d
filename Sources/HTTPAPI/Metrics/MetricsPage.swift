internal import Synchronization

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

/// Counts and times requests by route and status, for Prometheus.
package final class RequestMetrics: Sendable {
    private struct Key: Hashable {
        let method: String
        let route: String
        let status: Int
    }

    /// Upper bounds, in seconds.
    private static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
    private static let empty = MetricsPage.Histogram(
        bounds: bounds, buckets: Array(repeating: 0, count: bounds.count), count: 0, sum: 0)
    private let histograms = Mutex<[Key: MetricsPage.Histogram]>([:])

    package init() {}

    /// The methods that have their own label; all others share one, because clients could send any number of them.
    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    func record(method: String, route: String, status: Int, duration: Duration) {
        let seconds = duration.milliseconds / 1000
        let key = Key(method: Self.methods.contains(method) ? method : "other", route: route, status: status)
        histograms.withLock { $0[key, default: Self.empty].record(seconds) }
    }

    func write(to page: inout MetricsPage) {
        let histograms = histograms.withLock { $0 }.sorted {
            ($0.key.route, $0.key.status) < ($1.key.route, $1.key.status)
        }
        page.begin("http_request_duration_seconds", type: "histogram", help: "Requests answered, by route and status.")
        for (key, histogram) in histograms {
            page.add(
                histogram, labels: [("method", key.method), ("route", key.route), ("status", String(key.status))])
        }
    }
}
