internal import Delivery
internal import Foundation
internal import HTTPAPI
internal import Outbound
internal import Passwords
internal import Postgres
internal import Storage

extension MetricsPage.Gauge {
    /// The figures of the parts that have a queue.
    static func all(
        database: Database, channel: ReplicaChannel, hashing: HashingPool, worker: QueueWorker<MessageHandler>
    ) -> [MetricsPage.Gauge] {
        let queries: [MetricsPage.Gauge] = [
            .init("database_reachable", help: "1 while statements can be run.") {
                database.statistics.isReachable ? 1 : 0
            },
            .init("database_waiting", help: "Statements accepted and not yet sent.") {
                Double(database.statistics.waiting)
            },
            .init("database_in_flight", help: "Statements sent and not yet answered.") {
                Double(database.statistics.inFlight)
            },
            .init("database_reconnects_total", type: "counter", help: "Connections made anew after a loss.") {
                Double(database.statistics.reconnects)
            },
            .init(
                "replica_channel_current",
                help: "1 while what other replicas tell arrives; else each bearer's session is looked up."
            ) {
                channel.isCurrent ? 1 : 0
            },
        ]
        let messages = outcomes(
            of: { worker.statistics },
            sent: ("messages_sent_total", "Messages that a relay took."),
            failed: ("messages_failed_total", "Attempts to send that will be repeated."),
            givenUp: ("messages_given_up_total", "Messages that nobody will try again."))
        return queries + Self.hashing { hashing.statistics } + messages
    }

    static func revocations(_ worker: QueueWorker<RevocationHandler>) -> [MetricsPage.Gauge] {
        outcomes(
            of: { worker.statistics },
            sent: ("tokens_revoked_total", "Tokens given back to the services they came from."),
            failed: ("tokens_failed_total", "Attempts to give tokens back that will be repeated."),
            givenUp: ("tokens_given_up_total", "Tokens that nobody will give back any more."))
    }

    static func webhooks(_ worker: QueueWorker<EventHandler>) -> [MetricsPage.Gauge] {
        outcomes(
            of: { worker.statistics },
            sent: ("events_acknowledged_total", "Account events that a webhook acknowledged."),
            failed: ("events_failed_total", "Attempts to post an event that will be repeated."),
            givenUp: ("events_given_up_total", "Events that nobody will post again."))
    }

    private typealias Counter = (name: String, help: String)

    /// What has become of the work of one of the workers that send.
    private static func outcomes(
        of statistics: @escaping @Sendable () -> DeliveryStatistics, sent: Counter, failed: Counter, givenUp: Counter
    ) -> [MetricsPage.Gauge] {
        [
            .init(sent.name, type: "counter", help: sent.help) { Double(statistics().sent) },
            .init(failed.name, type: "counter", help: failed.help) { Double(statistics().failed) },
            .init(givenUp.name, type: "counter", help: givenUp.help) { Double(statistics().givenUp) },
        ]
    }

    /// The figures of the services behind providers, one for each provider of each application.
    static func upstreams(_ statistics: @escaping @Sendable () -> [UpstreamStatistics]) -> [MetricsPage.Gauge] {
        [
            .init("provider_up", help: "1 while the service behind a provider answers.") {
                statistics().map { .init($0.isUp ? 1 : 0, labels: $0.labels) }
            },
            .init("provider_last_success_timestamp_seconds", help: "When the service behind a provider last answered.")
            {
                statistics().compactMap { upstream in
                    upstream.lastSuccess.map { .init($0.timeIntervalSince1970, labels: upstream.labels) }
                }
            },
            .init("provider_requests_total", type: "counter", help: "Requests to the service behind a provider.") {
                statistics().flatMap { upstream -> [MetricsPage.Sample] in
                    [
                        .init(Double(upstream.successes), labels: upstream.labels + [("outcome", "success")]),
                        .init(Double(upstream.failures), labels: upstream.labels + [("outcome", "failure")]),
                    ]
                }
            },
        ]
    }
}

extension UpstreamStatistics {
    fileprivate var labels: [(String, String)] { [("application", application), ("provider", provider)] }
}
