internal import Accounts
internal import Administration
internal import Delivery
internal import Foundation
internal import ProviderKit

/// The configured webhooks, and test events that are posted to them without the queue.
struct WebhookPosting: WebhookDirectory {
    let current: CurrentWebhooks
    let http: any HTTPPosting

    /// Shorter than that of the queue, because an administrator waits.
    private static let deadline: Duration = .seconds(10)

    var webhooks: [ConfiguredWebhook] {
        let all = current.all
        let names = Dictionary(grouping: all, by: \.name).mapValues(\.count)
        return all.map { webhook in
            let hasOwnName = names[webhook.name] == 1 && webhook.name.fitsInPath
            return ConfiguredWebhook(
                id: hasOwnName ? webhook.name : String(Digest.sha256(of: webhook.url).hex.prefix(16)),
                name: webhook.name, url: webhook.url, host: URLComponents(string: webhook.url)?.host ?? "",
                events: AccountEvent.Kind.allCases.filter(webhook.events.contains))
        }
    }

    func test(_ webhook: ConfiguredWebhook, event: UUID, application: Accounts.Application) async throws -> String? {
        guard let configured = current.all.first(where: { $0.url == webhook.url }) else {
            return DeliveryError.notConfigured.reason
        }
        do {
            try await configured.test(
                event: event, application: application.name, by: http, within: Self.deadline)
            return nil
        } catch let error as DeliveryError {
            return error.reason
        }
    }
}

extension String {
    /// Whether the text is a path segment as it is.
    fileprivate var fitsInPath: Bool {
        (1...64).contains(utf8.count)
            && utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._~".utf8.contains($0) }
    }
}
