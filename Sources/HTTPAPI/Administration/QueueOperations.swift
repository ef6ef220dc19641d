internal import Accounts
internal import Administration
internal import Foundation
internal import ProviderKit

/// Erasures, webhooks, deliveries and messages.
struct QueueOperations {
    let useCases: AdministrationUseCases

    var erasures: AdminOperation<AdminQuery, Page<ListedErasure>> {
        AdminOperation("erasures.list", scope: .readServer) { request, query in
            try await useCases.erasures.list(query.choice("status"), query.page, in: request.application)
        }
    }

    var retryErasure: AdminOperation<(name: String, body: Act<NoFields>), ListedErasure> {
        AdminOperation("erasures.retry", scope: .eraseAccounts, errors: [.notFound]) { request, input in
            let act = try request.actWithoutNote(input.body)
            return try await useCases.erasures.retry(input.name.asID(of: "erasure"), by: act, in: request.application)
        }
    }

    var webhooks: AdminOperation<AdminQuery, Page<ListedWebhook>> {
        AdminOperation("webhooks.list", scope: .readServer) { request, query in
            let webhooks = try await useCases.webhooks.list(in: request.application).map {
                ListedWebhook(webhook: $0.webhook, backlog: $0.backlog)
            }
            return try request.page(of: webhooks, asked: query, in: "webhooks", id: \.webhook.id)
        }
    }

    var testWebhook: AdminOperation<(name: String, body: Act<NoFields>), WebhookTestPayload> {
        AdminOperation(
            "webhooks.test", scope: .writeDeliveries, hasOwnCapacity: true, errors: [.notFound]
        ) { request, input in
            let act = try request.actWithoutNote(input.body)
            let test = try await useCases.webhooks.test(input.name, by: act, in: request.application)
            return WebhookTestPayload(event: test.event, failure: test.failure)
        }
    }

    var replay: AdminOperation<(name: String, body: Act<ReplayBody>), ReplayPayload> {
        AdminOperation("webhooks.replay", scope: .writeDeliveries, errors: [.notFound, .wrongState]) { request, input in
            let (act, range) = (try request.actWithoutNote(input.body), input.body.body)
            let events = try await useCases.webhooks.replay(
                input.name, since: range.since.date, until: range.until.date, types: range.types, by: act,
                in: request.application)
            return ReplayPayload(events: events)
        }
    }

    var deliveries: AdminOperation<AdminQuery, Page<ListedDelivery>> {
        AdminOperation("deliveries.list", scope: .readServer) { request, query in
            try await useCases.deliveries.list(query.choice("state"), query.page, in: request.application)
        }
    }

    var retryDelivery: AdminOperation<(name: String, body: Act<NoFields>), [ListedDelivery]> {
        AdminOperation("deliveries.retry", scope: .writeDeliveries, errors: [.notFound]) { request, input in
            let act = try request.actWithoutNote(input.body)
            return try await useCases.deliveries.retry(
                input.name.asID(of: "delivery"), by: act, in: request.application)
        }
    }

    var messages: AdminOperation<AdminQuery, Page<ListedMessage>> {
        AdminOperation("messages.list", scope: .readServer) { request, query in
            try await useCases.deliveries.messages(query.choice("state"), query.page, in: request.application)
        }
    }

    var retryMessage: AdminOperation<(name: String, body: Act<NoFields>), ListedMessage> {
        AdminOperation("messages.retry", scope: .writeDeliveries, errors: [.notFound]) { request, input in
            let act = try request.actWithoutNote(input.body)
            return try await useCases.deliveries.retryMessage(
                input.name.asID(of: "message"), by: act, in: request.application)
        }
    }
}

extension String {
    /// The text of a path parameter as a UUID.
    ///
    /// - Throws: `AdministrationError.notFound` for any other text.
    func asID(of kind: String) throws -> UUID {
        guard let id = UUID(uuidString: self) else { throw AdministrationError.notFound(kind) }
        return id
    }
}
