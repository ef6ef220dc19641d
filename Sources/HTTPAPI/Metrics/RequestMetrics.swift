internal import Synchronization

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
