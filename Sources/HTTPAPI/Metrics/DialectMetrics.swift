internal import Synchronization

/// Counts requests at the paths of dialects, in applications that have the dialect.
final class DialectMetrics: Sendable {
    private struct Key: Hashable {
        let dialect, route: String
        let status: Int
    }

    private let counts = Mutex<[Key: Int]>([:])

    var gauges: [MetricsPage.Gauge] {
        [
            .init("dialect_requests_total", type: "counter", help: "Requests to dialects, by route and status.") {
                self.counts.withLock { $0 }.map { key, count in
                    .init(
                        Double(count),
                        labels: [("dialect", key.dialect), ("route", key.route), ("status", String(key.status))])
                }
            }
        ]
    }

    func count(_ dialect: any Dialect.Type, route: String, status: Int) {
        counts.withLock { $0[Key(dialect: dialect.name, route: route, status: status), default: 0] += 1 }
    }
}
