internal import Accounts
internal import OpenID
internal import ProviderKit
internal import Synchronization

/// Counts what the OpenID endpoints answer.
package final class OAuthMetrics: Sendable {
    private struct Grant: Hashable { let application, grant, outcome: String }
    private struct Request: Hashable { let application, outcome: String }
    private struct State {
        var grants: [Grant: Int] = [:]
        var requests: [Request: Int] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package var gauges: [MetricsPage.Gauge] {
        [
            .init("oauth_grants_total", type: "counter", help: "Answers of the token endpoint, by grant and outcome.") {
                self.state.withLock { $0.grants }.map { key, count in
                    .init(
                        Double(count),
                        labels: [
                            ("application", key.application), ("grant", key.grant), ("outcome", key.outcome),
                        ])
                }
            },
            .init("oauth_authorizations_total", type: "counter", help: "Authorization requests, by outcome.") {
                self.state.withLock { $0.requests }.map { key, count in
                    .init(Double(count), labels: [("application", key.application), ("outcome", key.outcome)])
                }
            },
        ]
    }

    /// Counts an answer of the token endpoint; grants that the server does not know share one label.
    func countGrant(_ name: String?, in application: Application, error: (any Error)?) {
        let grant = name.flatMap { OAuthClient.Grant(bytesOf: $0) }?.rawValue ?? "unknown"
        let outcome = error.map { error -> OAuthError.Code in
            (error as? OAuthError)?.code ?? (APIError(any: error) == nil ? .serverError : .temporarilyUnavailable)
        }
        let key = Grant(application: application.name, grant: grant, outcome: outcome?.rawValue ?? "success")
        state.withLock { $0.grants[key, default: 0] += 1 }
    }

    func count(_ answer: Authorization.Response, in application: Application) {
        let outcome =
            switch answer {
            case .code: "silent"
            case .page: "asked"
            case .error, .failure, .fault: "error"
            // The browser comes again.
            case .reload: String?.none
            }
        guard let outcome else { return }
        let key = Request(application: application.name, outcome: outcome)
        state.withLock { $0.requests[key, default: 0] += 1 }
    }
}

extension OpenIDUseCases {
    /// Metrics of sign-ins that another device answers.
    var handoffGauges: [MetricsPage.Gauge] {
        [
            .init(
                "handoffs_total", type: "counter", help: "Sign-ins that another device answers, by kind and outcome."
            ) { [handoffs] in
                handoffs.all.map { key, count in
                    .init(Double(count), labels: [("kind", key.kind.rawValue), ("outcome", key.outcome.rawValue)])
                }
            },
            .init("handoffs_waiting", help: "Pages that wait until another device answers.") { [waiters] in
                Double(waiters.count)
            },
        ]
    }
}
