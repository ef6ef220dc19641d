internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import ProviderKit

/// Reports to monitoring whether the server can serve requests.
package protocol Health: Sendable {
    /// Whether the database responds and has the schema version of this server.
    func isReady() async -> Bool
}

/// Routes that need no session: enabled providers, public keys, health and metrics.
struct ServerRoutes {
    let keys: any PublishedKeys
    let health: any Health
    let metrics: RequestMetrics
    let gauges: [MetricsPage.Gauge]

    private struct Status: ResponsePayload {
        let status: String

        static let fields = ResponseFields<Self>("HealthRoutesStatus") { Field("status", \.status) }
    }

    var endpoints: [Endpoint] {
        Issuer.Place.allCases.map(keySet) + [
            .open(
                base + "/auth/providers", "The providers that are enabled",
                returns: [.init(body: ProviderList.self)]
            ) { context in
                .json(written: context.scope.application.providerList)
            },
            .open("/health/live", "The process answers") { _ in .json(Status(status: "live")) },
            .open(
                "/health/ready", "The database is reachable and its migrations are current",
                returns: [
                    .init(contentType: "application/json"),
                    .init(
                        status: .serviceUnavailable, body: Status.self,
                        description: "The database is unreachable, or its migrations are not current"),
                ]
            ) { _ in
                await health.isReady()
                    ? .json(Status(status: "ready"))
                    : .json(Status(status: "unavailable"), status: .serviceUnavailable, headers: [.retryAfter: "1"])
            },
            .open("/metrics", "Figures in Prometheus' text format", returns: [.init(contentType: "text/plain")]) { _ in
                var page = MetricsPage()
                metrics.write(to: &page)
                for gauge in gauges { page.add(gauge) }
                return .bytes(Array(page.text.utf8), type: "text/plain; version=0.0.4; charset=utf-8")
            },
        ]
    }

    /// The keys of all tokens of an application, which verify those of its REST interface, too.
    private func keySet(at place: Issuer.Place) -> Endpoint {
        // The keys may be cached for less time than an old key remains published after a rotation.
        .open(
            place.path(of: .keys), "The public keys of tokens, as a JWK Set",
            takes: TakenRequest(isOfOpenID: place != .plain, place: place, origins: .all)
        ) { context in
            .bytes(
                try await keys.keySet(of: context.application), type: "application/json",
                cache: "public, max-age=300")
        }
    }
}
