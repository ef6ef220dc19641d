package import Accounts
package import Foundation
package import Logging
package import ProviderKit

/// Tells OpenID clients that sessions have ended (OpenID Connect Back-Channel Logout, 2.5).
package struct LogoutHandler: QueueHandler {
    package static let settings = QueueSettings(
        concurrency: 4, attempt: .seconds(8), lease: .seconds(20), grace: .seconds(6), retry: retry)

    package static let log = QueueLog(
        queue: "logout tokens", delivered: "Client told of a sign-out", retried: "Client not told of a sign-out yet",
        givenUp: "Client never told of a sign-out", inDoubt: "Client perhaps told of a sign-out",
        unrecorded: "The queue could not be updated after a client was told of a sign-out; it will be told again",
        cancelled: "Shutdown leaves clients to be told of sign-outs")

    private static let retry: RetryPolicy = {
        var policy = RetryPolicy()
        policy.delays = [.seconds(5), .seconds(30), .seconds(120), .seconds(420)]
        return policy
    }()

    /// The deadline for one request.
    private static let deadline: Duration = .seconds(5)

    package let queue: any LeasedQueue<TakenDelivery>
    private let webhooks: CurrentWebhooks
    private let tokens: any LogoutTokens
    private let http: any HTTPPosting
    private let registeredHTTP: any HTTPPosting

    /// `registeredHTTP` reaches clients that have registered themselves.
    package init(
        queue: any LeasedQueue<TakenDelivery>, webhooks: CurrentWebhooks, tokens: any LogoutTokens,
        by http: any HTTPPosting, toRegistered registeredHTTP: any HTTPPosting
    ) {
        (self.queue, self.webhooks, self.tokens) = (queue, webhooks, tokens)
        (self.http, self.registeredHTTP) = (http, registeredHTTP)
    }

    package var lanes: [String] { webhooks.logoutLanes }

    package func deliver(_ entry: TakenDelivery, at now: Date) async throws -> Bool {
        guard let (uri, token) = try await tokens.logoutToken(for: entry) else { throw DeliveryError.notConfigured }
        let http = LogoutDelivery.registeredLanes.contains(entry.webhook) ? registeredHTTP : http
        do {
            try await http.deliver(.post(uri, form: ["logout_token": token]), within: Self.deadline)
            return true
        } catch DeliveryError.gatewayRefused(let status) where status != 400 {
            // Only 400 says that the client refuses the token; it may be misconfigured for a while.
            throw DeliveryError.gatewayDeferred(status: status)
        }
    }

    package func metadata(of entry: TakenDelivery) -> Logger.Metadata {
        ["client": "\(entry.applicationName)/\(entry.details["client"]?.string ?? "")"]
    }
}
