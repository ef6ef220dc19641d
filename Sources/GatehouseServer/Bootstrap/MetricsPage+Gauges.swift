internal import Delivery
internal import Foundation
internal import HTTPAPI
internal import Outbound
internal import Passwords
internal import Postgres
internal import Storage

extension MetricsPage.Gauge {
    /// The workers of the queues.
    struct Workers {
        let outbox: QueueWorker<MessageHandler>
        let webhooks: QueueWorker<EventHandler>
        let revocations: QueueWorker<RevocationHandler>
        let logouts: QueueWorker<LogoutHandler>
    }

    /// All metrics except those of the requests themselves.
    static func all(
        _ backend: Backend, hashing: HashingPool, workers: Workers, backlog: Current<Backlog>,
        liveBearers: Current<Int>, upstreams: any ProviderPortsSource, live: LiveConfiguration
    ) -> [MetricsPage.Gauge] {
        configuration(live) + database(backend) + Self.hashing { hashing.statistics }
            + values(
                of: { workers.outbox.statistics }, type: "counter",
                [
                    ("messages_sent_total", "Messages that a relay took.", \.sent),
                    ("messages_failed_total", "Attempts to send that will be repeated.", \.failed),
                    ("messages_given_up_total", "Messages that will not be tried again.", \.givenUp),
                ])
            + values(
                of: { workers.webhooks.statistics }, type: "counter",
                [
                    ("events_acknowledged_total", "Account events that a webhook acknowledged.", \.sent),
                    ("events_failed_total", "Attempts to post an event that will be repeated.", \.failed),
                    ("events_given_up_total", "Events that will not be posted again.", \.givenUp),
                ])
            + values(
                of: { workers.revocations.statistics }, type: "counter",
                [
                    ("tokens_revoked_total", "Tokens revoked at the services they came from.", \.sent),
                    ("tokens_failed_total", "Attempts to revoke tokens that will be repeated.", \.failed),
                    ("tokens_given_up_total", "Tokens whose revocation was given up.", \.givenUp),
                ])
            + values(
                of: { workers.logouts.statistics }, type: "counter",
                [
                    ("logout_tokens_sent_total", "Logout tokens that a client took.", \.sent),
                    ("logout_tokens_failed_total", "Attempts to send a logout token that will be repeated.", \.failed),
                    ("logout_tokens_given_up_total", "Logout tokens that will not be sent again.", \.givenUp),
                ])
            + values(
                of: { backlog.value },
                [
                    ("audit_unsealed_events", "Events of the audit that nothing has sealed yet.", \.unsealedEvents),
                    ("audit_oldest_unsealed_seconds", "Age of the oldest of these events, or 0.", \.oldestUnsealed),
                    ("erasures_due", "Accounts whose grace period is over.", \.dueErasures),
                    ("erasures_oldest_due_seconds", "Time since the first of these grace periods ended.", \.oldestDue),
                    (
                        "erasures_waiting", "Due erasures that wait for webhooks, providers or the ledger.",
                        \.waitingErasures
                    ),
                ])
            + [
                .init("session_bearers_live", help: "Sessions of apps that send a session bearer.") {
                    Double(liveBearers.value)
                }
            ]
            + self.upstreams { upstreams.statistics }
    }

    /// Metrics that are members of one value.
    private static func values<Statistics>(
        of statistics: @escaping @Sendable () -> Statistics, type: String = "gauge",
        _ metrics: [(name: String, help: String, value: any KeyPath<Statistics, Int> & Sendable)]
    ) -> [MetricsPage.Gauge] {
        metrics.map { name, help, value in
            .init(name, type: type, help: help) { Double(statistics()[keyPath: value]) }
        }
    }

    private static func configuration(_ live: LiveConfiguration) -> [MetricsPage.Gauge] {
        let help = "1 while the changed configuration has a fault and the old one stays in force."
        return [.init("configuration_refused", help: help) { live.refused == nil ? 0 : 1 }]
    }

    private static func database(_ backend: Backend) -> [MetricsPage.Gauge] {
        let (database, channel) = (backend.database, backend.channel)
        let reachable = MetricsPage.Gauge("database_reachable", help: "1 while statements can be run.") {
            database.statistics.isReachable ? 1 : 0
        }
        let current = MetricsPage.Gauge(
            "replica_channel_current",
            help: "1 while notifications of other replicas arrive; otherwise each bearer's session is looked up."
        ) { channel.isCurrent ? 1 : 0 }
        return [reachable]
            + values(
                of: { database.statistics },
                [
                    ("database_waiting", "Statements accepted and not yet sent.", \.waiting),
                    ("database_in_flight", "Statements sent and not yet answered.", \.inFlight),
                ])
            + values(
                of: { database.statistics }, type: "counter",
                [("database_reconnects_total", "Connections made again after a loss.", \.reconnects)])
            + [current]
    }

    private static func hashing(_ statistics: @escaping @Sendable () -> HashingStatistics) -> [MetricsPage.Gauge] {
        [
            .init("hashing_queued", help: "Passwords waiting to be hashed, and places reserved for further ones.") {
                let statistics = statistics()
                return Double(statistics.queued + statistics.reserved)
            },
            .init("hashing_running", help: "Passwords being hashed.") { Double(statistics().running) },
            .init("hashing_done_total", type: "counter", help: "Passwords hashed.") { Double(statistics().done) },
            .init("hashing_rejected_total", type: "counter", help: "Passwords refused by the queue, by the reason.") {
                () -> [MetricsPage.Sample] in
                let refusals = statistics().refusals
                return HashingRefusal.allCases.map { reason in
                    MetricsPage.Sample(Double(refusals[reason] ?? 0), labels: [("reason", reason.rawValue)])
                }
            },
            .init(
                "hashing_abandoned_total", type: "counter",
                help: "Passwords whose client hung up before they were hashed."
            ) { Double(statistics().abandoned) },
            .init("hashing_seconds", help: "Moving average of the time that one hash takes, which bounds the queue.") {
                statistics().averageDuration / .seconds(1)
            },
            .init("hashing_duration_seconds", help: "Time that each hash took.") { .init(statistics().durations) },
            .init("hashing_wait_seconds", help: "Time that each password waited to be hashed.") {
                .init(statistics().waits)
            },
        ]
    }

    /// The metrics of upstream services, by application and provider.
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

extension MetricsPage.Histogram {
    fileprivate init(_ histogram: DurationHistogram) {
        self.init(bounds: histogram.bounds, buckets: histogram.buckets, count: histogram.count, sum: histogram.seconds)
    }
}

extension UpstreamStatistics {
    fileprivate var labels: [(String, String)] { [("application", application), ("provider", provider)] }
}
