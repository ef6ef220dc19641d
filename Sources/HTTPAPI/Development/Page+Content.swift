package import Accounts
internal import Foundation
internal import OpenID
internal import Pages
internal import ProviderKit

extension Page {
    /// The start page of `gatehouse dev`.
    static func start(_ start: StartOperations.Start, of application: ServedApplication) -> Page {
        var values: [String: Any] = [
            "application": application.application.name, "server": application.application.issuer,
            "version": HTTPAPI.version,
            "providers": application.application.providers.enabled.map {
                ["name": $0.name, "displayName": $0.displayName]
            },
        ]
        values["csrf"] = start.formToken
        if start.issuer.settings.clients[ExampleRequest.client] != nil {
            let example = ExampleRequest(issuer: application.application.issuer)
            values["example"] = ["url": example.url, "redemption": example.redemption]
        }
        return Page("start", values, allowing: .form)
    }

    /// The messages that `gatehouse dev` keeps; `server` is the address for the example call.
    ///
    /// The page's script requests the list as JSON every two seconds. For new messages it requests the page again and
    /// copies their elements from its HTML.
    static func inbox(_ inbox: InboxPayload, server: String) -> Page {
        let messages = inbox.messages.map { message -> [String: Any] in
            var values: [String: Any] = [
                "id": message.id.text, "subject": message.subject ?? firstLine(of: message.text),
                "isText": message.kind == .sms, "to": message.to, "from": message.from,
                "application": message.application, "sentAt": Timestamp(message.sentAt).text,
                "text": TextSegment.segments(of: message.text).map { [$0.isLink ? "link" : "plain": $0.text] },
            ]
            values["html"] = message.html
            return values
        }
        return Page(
            "inbox", ["server": server, "messages": messages, "isEmpty": messages.isEmpty],
            allowing: [.script, .mails])
    }

    private static func firstLine(of text: String) -> String {
        String(text.split(whereSeparator: \.isNewline).first?.prefix(80) ?? "")
    }
}

/// The messages that `gatehouse dev` keeps instead of sending, the newest first.
struct InboxPayload: ResponsePayload {
    let messages: [DeliveredMessage]

    static let fields = ResponseFields<Self>("Inbox") { Field("messages", \.messages) }
}

extension DeliveredMessage: ResponsePayload {
    package static let fields = ResponseFields<Self>("InboxMessage") {
        Field("id", \.id)
        Field("kind", as: .choice(of: Kind.self), \.kind.rawValue)
        Field("application", \.application)
        Field("from", \.from)
        Field("to", \.to)
        Field("subject", orNull: \.subject)
        Field("text", \.text)
        Field("html", orNull: \.html)
        Field("sentAt", \.sentAt)
    }
}
