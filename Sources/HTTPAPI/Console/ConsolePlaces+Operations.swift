internal import Console
internal import ProviderKit

extension ConsolePlaces {
    static let operations: [ConsolePlace] = [messages.place]
    static let operationAnswers: [ConsoleAnswer] = []

    private static let messages = ConsoleList(
        path: "/messages", name: "messages",
        columns: [
            .init("Sent", "createdAt"), .init("Kind", "channel"), .init("State", "state"),
            .init("Attempts", "attempts"),
            .init("Failure", "failure"),
        ],
        rowActs: [.init("/messages/{id}/retry", "id", by: "id") { $0["state"].string == "failed" }])
}
