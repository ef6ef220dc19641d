internal import Delivery
internal import Foundation
internal import HTTPAPI
internal import Outbound
internal import Passwords
internal import Postgres

extension MetricsPage.Gauge {
    /// The figures of the parts that have a queue.
    static func all(database: Database, hashing: HashingPool, worker: OutboxWorker) -> [MetricsPage.Gauge] {
        [
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
            .init("hashing_queued", help: "Passwords waiting to be hashed.") { Double(hashing.statistics.queued) },
            .init("hashing_running", help: "Passwords being hashed.") { Double(hashing.statistics.running) },
            .init("hashing_done_total", type: "counter", help: "Passwords hashed.") {
                Double(hashing.statistics.done)
            },
            .init("hashing_rejected_total", type: "counter", help: "Passwords refused because the queue was full.") {
                Double(hashing.statistics.rejected)
            },
            .init("hashing_seconds", help: "Moving average of the time that one hash takes.") {
                hashing.statistics.averageDuration / .seconds(1)
            },
            .init("messages_sent_total", type: "counter", help: "Messages that a relay took.") {
                Double(worker.statistics.sent)
            },
            .init("messages_failed_total", type: "counter", help: "Attempts to send that will be repeated.") {
                Double(worker.statistics.failed)
            },
            .init("messages_given_up_total", type: "counter", help: "Messages that nobody will try again.") {
                Double(worker.statistics.givenUp)
            },
        ]
    }

    static func revocations(_ worker: RevocationWorker) -> [MetricsPage.Gauge] {
        [
            .init("tokens_revoked_total", type: "counter", help: "Tokens given back to the services they came from.") {
                Double(worker.statistics.sent)
            },
            .init("tokens_failed_total", type: "counter", help: "Attempts to give tokens back that will be repeated.") {
                Double(worker.statistics.failed)
            },
            .init("tokens_given_up_total", type: "counter", help: "Tokens that nobody will give back any more.") {
                Double(worker.statistics.givenUp)
            },
        ]
    }

    static func webhooks(_ worker: WebhookWorker) -> [MetricsPage.Gauge] {
        [
            .init("events_acknowledged_total", type: "counter", help: "Account events that a webhook acknowledged.") {
                Double(worker.statistics.sent)
            },
            .init("events_failed_total", type: "counter", help: "Attempts to post an event that will be repeated.") {
                Double(worker.statistics.failed)
            },
            .init("events_given_up_total", type: "counter", help: "Events that nobody will post again.") {
                Double(worker.statistics.givenUp)
            },
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
