internal import Console
internal import ProviderKit

extension ConsolePlaces {
    /// Queues, the audit, keys, locks, rights and the configuration.
    static let operations: [ConsolePlace] =
        [erasures.place, webhooks.place, deliveries.place, messages.place, audit, keys.place, limits, configuration]
        + access
    static let operationAnswers: [ConsoleAnswer] = [retirement, locks]

    private static let erasures = ConsoleList(
        path: "/erasures", name: "erasures",
        columns: [
            .init("Receipt", "receipt"), .account("Account"), .words("State", "status", of: "status"),
            .init("Asked for", "requestedAt"), .init("Restorable until", "purgeAfter"),
            .init("Erased", "erasedAt"),
            .init("Services") { item, _ in
                .array(
                    (item["processors"].array ?? []).map { processor in
                        let state = ConsoleTemplates.words(for: processor["status"].string ?? "", of: "processor")
                        let attempts = processor["attempts"].integer ?? 0
                        let count = attempts == 1 ? "1 attempt" : "\(attempts) attempts"
                        return .string("\(processor["name"].string ?? ""): \(state), \(count)")
                    })
            },
        ],
        rowActs: [
            .init("/erasures/{receipt}/retry", "receipt", by: "receipt") { item in
                item["status"].string == "scheduled" && !item["beganAt"].isNull
            }
        ])

    private static let webhooks = ConsoleList(
        path: "/webhooks", name: "webhooks",
        columns: [
            .init("Name", "name"), .init("Host", "host"), .words("State", "state", of: "webhook"),
            .init("Waiting", "pending"), .init("Oldest", "oldestPendingAt"), .init("Failure", "failure"),
            .init("Given up", "failed"), .init("Events", "events"),
        ],
        rowActs: [
            .init("/webhooks/{webhook}/test", "webhook", by: "id"),
            .init("/webhooks/{webhook}/replay", "webhook", by: "id"),
        ])

    private static let deliveries = ConsoleList(
        path: "/deliveries", name: "deliveries",
        columns: [
            .init("Created", "createdAt"), .init("Type", "type"), .init("To", "webhook"), .account("Account"),
            .words("State", "state", of: "state"), .init("Attempts", "attempts"), .init("Failure", "failure"), .fate,
            .init("Event", "event"),
        ],
        rowActs: [.init("/deliveries/{event}/retry", "event", by: "event", if: isGivenUp)])

    private static let messages = ConsoleList(
        path: "/messages", name: "messages",
        columns: [
            .init("Created", "createdAt"), .init("Type", "type"), .words("Sent by", "channel", of: "channel"),
            .words("State", "state", of: "state"), .init("Attempts", "attempts"), .init("Failure", "failure"), .fate,
        ],
        rowActs: [.init("/messages/{id}/retry", "id", by: "id", if: isGivenUp)])

    /// What a restoration has withdrawn (`restored`) is not delivered again.
    @Sendable private static func isGivenUp(_ item: JSONValue) -> Bool {
        item["state"].string == "failed" && item["failure"].string != "restored"
    }
}
