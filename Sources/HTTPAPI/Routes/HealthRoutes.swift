internal import ProviderKit
internal import Accounts
internal import HTTPTypes
internal import Hummingbird

/// Whether the server can serve, for those who run it.
package protocol Health: Sendable {
    /// The database answers and its schema is this server's.
    func isReady() async -> Bool
}

struct HealthRoutes {
    let health: any Health
    let metrics: RequestMetrics
    let gauges: [MetricsPage.Gauge]

    private struct Status: ResponsePayload {
        let status: String

        static let fields = ResponseFields<Self>("HealthRoutesStatus") {
            Field("status", \.status)
        }
    }

    var endpoints: [Endpoint] {
        [live, ready, metricsPage]
    }

    private var live: Endpoint {
        .raw("/health/live", "The process answers") { _ in
            .json(Status(status: "live"))
        }
    }

    private var ready: Endpoint {
        var endpoint = readiness
        endpoint.otherAnswers = [
            .init(status: .serviceUnavailable, body: Status.self, description: "It is not, or they are not")
        ]
        return endpoint
    }

    private var readiness: Endpoint {
        .raw("/health/ready", "The database is reachable and its migrations are current") { _ in
            await health.isReady()
                ? .json(Status(status: "ready"))
                : .json(Status(status: "unavailable"), status: .serviceUnavailable, headers: [.retryAfter: "1"])
        }
    }

    private var metricsPage: Endpoint {
        .raw("/metrics", "Figures in Prometheus' text format", type: "text/plain") { _ in
            var page = MetricsPage()
            metrics.write(to: &page)
            for gauge in gauges { page.add(gauge) }
            return .bytes(Array(page.text.utf8), type: "text/plain; version=0.0.4; charset=utf-8")
        }
    }
}
