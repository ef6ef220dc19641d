package import Accounts
package import Foundation

/// Looking at the queues of events and messages, and having entries delivered again.
package struct DeliveryActs: Sendable {
    package typealias Store = DeliveryListStore & MessageListStore & BoundedTransactions

    let store: any TransactionalStore & Store
    let cursors: PageCursors

    /// The deliveries of events, the newest first.
    ///
    /// A cursor names the last event and how many of its deliveries were sent, since the URLs of webhooks, by which the
    /// rows differ, are not for clients.
    package func list(
        _ state: QueueState?, _ requested: RequestedPage, in application: Application
    ) async throws -> Page<ListedDelivery> {
        let list = PageCursors.List("deliveries", filter: ["state": state?.rawValue ?? ""], of: application)
        let position = try cursors.position(in: requested.after, of: list, count: 2)
        let last = position.flatMap { UUID(uuidString: $0[0]) }
        let seen = position.flatMap { Int($0[1]) } ?? 0
        let rows = try await store.transaction(within: .administration) { store in
            try await store.deliveries(
                state, upTo: last, atMost: requested.limit + 1 + seen, application: application.id)
        }
        var skipped = 0
        let items = rows.drop { row in
            guard row.event == last, skipped < seen else { return false }
            skipped += 1
            return true
        }
        let sent = items.prefix(requested.limit)
        return cursors.page(of: Array(items), limit: requested.limit, in: list) { item in
            let earlier = item.event == last ? seen : 0
            return [item.event.text, "\(earlier + sent.count { $0.event == item.event })"]
        }
    }

    /// Makes the deliveries of an event that are not acknowledged due at once, also those that were given up.
    ///
    /// If all of them are acknowledged meanwhile, nothing changes.
    ///
    /// - Returns: all deliveries of the event.
    /// - Throws: `AdministrationError.notFound`.
    package func retry(
        _ event: UUID, by act: AdministrativeAct, in application: Application
    ) async throws -> [ListedDelivery] {
        try await store.transaction(within: .administration) { store in
            let deliveries = try await store.deliveries(of: event, application: application.id)
            guard !deliveries.isEmpty else { throw AdministrationError.notFound("delivery") }
            guard deliveries.contains(where: { $0.progress.state != .delivered }) else { return deliveries }
            try await store.retryDeliveries(of: event, by: act, application: application.id)
            return try await store.deliveries(of: event, application: application.id)
        }
    }

    /// The messages in the outbox, the newest first.
    package func messages(
        _ state: QueueState?, _ requested: RequestedPage, in application: Application
    ) async throws -> Page<ListedMessage> {
        let list = PageCursors.List("messages", filter: ["state": state?.rawValue ?? ""], of: application)
        let last = try cursors.position(in: requested.after, of: list, count: 1).flatMap { UUID(uuidString: $0[0]) }
        let items = try await store.transaction(within: .administration) { store in
            try await store.messages(state, before: last, atMost: requested.limit + 1, application: application.id)
        }
        return cursors.page(of: items, limit: requested.limit, in: list) { [$0.id.text] }
    }

    /// Makes a message due that was given up or waits for its next attempt; one that was sent stays as it is.
    ///
    /// - Throws: `AdministrationError.notFound`.
    package func retryMessage(
        _ id: UUID, by act: AdministrativeAct, in application: Application
    ) async throws -> ListedMessage {
        try await store.transaction(within: .administration) { store in
            guard let message = try await store.message(id, application: application.id) else {
                throw AdministrationError.notFound("message")
            }
            guard message.progress.state != .delivered else { return message }
            try await store.retryMessage(id, by: act, application: application.id)
            return try await store.message(id, application: application.id) ?? message
        }
    }
}
