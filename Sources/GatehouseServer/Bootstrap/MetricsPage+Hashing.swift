internal import HTTPAPI
internal import Passwords

extension MetricsPage.Gauge {
    /// The figures of the queue for hashing passwords.
    static func hashing(_ statistics: @escaping @Sendable () -> HashingStatistics) -> [MetricsPage.Gauge] {
        [
            .init("hashing_queued", help: "Passwords waiting to be hashed.") { Double(statistics().queued) },
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
            ) {
                Double(statistics().abandoned)
            },
            .init("hashing_seconds", help: "Moving average of the time that one hash takes, which bounds the queue.") {
                statistics().averageDuration / .seconds(1)
            },
            .init(
                "hashing_duration_seconds", help: "Time that each hash took.",
                histogram: { .init(statistics().durations) }),
            .init(
                "hashing_wait_seconds", help: "Time that each password waited to be hashed.",
                histogram: { .init(statistics().waits) }),
        ]
    }
}

extension MetricsPage.Histogram {
    fileprivate init(_ histogram: DurationHistogram) {
        self.init(
            bounds: histogram.bounds, buckets: histogram.buckets, count: histogram.count, sum: histogram.seconds)
    }
}
