package import Accounts
package import Foundation
internal import ProviderKit

/// Looking at webhooks, testing them, and posting events to them again.
package struct WebhookActs: Sendable {
    package typealias Store = DeliveryListStore & BoundedTransactions

    let store: any TransactionalStore & Store
    let trail: any AuditTrail
    let directory: any WebhookDirectory
    /// Tests have a capacity of their own, because a webhook may take long to answer.
    private let tests = AdminCapacity(places: 2)

    /// The most events that one call posts again.
    package static let mostReplayed = 10_000

    init(store: any TransactionalStore & Store, trail: any AuditTrail, directory: any WebhookDirectory) {
        (self.store, self.trail, self.directory) = (store, trail, directory)
    }

    /// The webhooks in the order of the configuration, with what waits for each in the application.
    package func list(
        in application: Application
    ) async throws -> [(webhook: ConfiguredWebhook, backlog: WebhookBacklog)] {
        let webhooks = directory.webhooks
        guard !webhooks.isEmpty else { return [] }
        let backlogs = try await store.transaction(within: .administration) { store in
            try await store.backlogs(of: webhooks.map(\.url), application: application.id)
        }
        return webhooks.map { ($0, backlogs[$0.url] ?? WebhookBacklog()) }
    }

    /// Posts `gatehouse.test` and waits for the answer.
    ///
    /// - Returns: the id of the event, and the code of the failure, if there was one.
    package func test(
        _ id: String, by act: AdministrativeAct, in application: Application
    ) async throws -> (event: UUID, failure: String?) {
        let webhook = try webhook(id)
        return try await tests.run {
            let event = UUID.v7()
            // It is recorded before it happens, because no transaction includes the call.
            let details = act.details(adding: ["webhook": .string(webhook.name)])
            try await trail.record(AuditEntry(.webhookTested, details: details), application: application.id)
            return (event, try await directory.test(webhook, event: event, application: application))
        }
    }

    /// Posts kept events again, with their old ids, so that a receiver recognises those that it has.
    ///
    /// Kept are events of the last 30 days, and deletions until the account is erased. A deletion that is still being
    /// carried out waits for the new acknowledgement.
    ///
    /// - Returns: the number of events.
    /// - Throws: `AdministrationError.wrongState` if there are too many.
    package func replay(
        _ id: String, since: Date, until: Date, types: [String]?, by act: AdministrativeAct, in application: Application
    ) async throws -> Int {
        guard since < until else {
            throw AccountsError.invalidParameter("until", reason: "is not after since")
        }
        let known = AccountEvent.Kind.allCases.map(\.rawValue)
        if let types, !types.allSatisfy(known.contains) {
            throw AccountsError.invalidParameter("types", reason: "are some of \(known.joined(separator: ", "))")
        }
        let replay = WebhookReplay(webhook: try webhook(id), since: since, until: until, types: types)
        return try await store.transaction(within: .administration) { store in
            let most = Self.mostReplayed
            let count = try await store.countReplayable(replay, atMost: most + 1, application: application.id)
            guard count <= most else {
                throw AdministrationError.wrongState(
                    reason: "There are more than \(most) events in this time; name a shorter one")
            }
            return try await store.replay(replay, atMost: most, by: act, application: application.id)
        }
    }

    private func webhook(_ id: String) throws -> ConfiguredWebhook {
        guard let webhook = directory.webhooks.first(where: { $0.id.hasSameBytes(as: id) }) else {
            throw AdministrationError.notFound("webhook")
        }
        return webhook
    }
}
