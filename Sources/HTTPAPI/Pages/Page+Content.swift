package import Accounts
internal import Foundation
internal import Pages
internal import ProviderKit

extension Page {
    /// The page of a registration's mailed link; `pathPrefix` is empty or an application's prefix, such as
    /// `/apps/photos`.
    ///
    /// The token is used only when the button is pressed, because mail scanners also open links. `asksPassword` is for
    /// applications whose links work only together with the registered password.
    static func verifyEmail(pathPrefix: String, asksPassword: Bool = false) -> Page {
        Page("verify-email", ["pathPrefix": pathPrefix, "asksPassword": asksPassword], allowing: .script)
    }

    /// The page of the mailed link for a forgotten password.
    static func resetPassword(pathPrefix: String) -> Page {
        Page("reset-password", ["pathPrefix": pathPrefix], allowing: .script)
    }

    /// The page for reviewing identities after a password reset; nothing changes until the button is pressed.
    ///
    /// The page needs no script, because its form is posted to the page's own URL.
    static func review(
        _ identities: [(id: String, name: String, linked: Date, isQuarantined: Bool)], token: String, pathPrefix: String
    ) -> Page {
        let rows = identities.map { identity -> [String: Any] in
            [
                "id": identity.id, "name": identity.name, "linked": identity.linked.formatted(day),
                "isQuarantined": identity.isQuarantined,
            ]
        }
        return Page("review", ["identities": rows, "token": token, "pathPrefix": pathPrefix], allowing: .form)
    }

    static var reviewed: Page { Page("review-saved") }

    /// Explains to a person why a review failed.
    static func reviewError(_ error: APIError?) -> Page {
        switch error?.code {
        case .invalidToken: Page("review-expired")
        case .lastUsableIdentity: Page("review-empty")
        default: Page("review-failed")
        }
    }

    /// The page for a browser whose redirect flow is unknown, so that the browser can't be sent back to the app.
    static var strandedFlow: Page { Page("sign-in-stranded") }

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

    private static let day = Date.VerbatimFormatStyle(
        format: "\(day: .defaultDigits) \(month: .wide) \(year: .defaultDigits)",
        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
}

/// The messages that `gatehouse dev` keeps instead of sending, the newest first.
struct InboxPayload: ResponsePayload {
    let messages: [DeliveredMessage]

    static let fields = ResponseFields<Self>("Inbox") { Field("messages", \.messages) }
}

extension DeliveredMessage: ResponsePayload {
    package static let fields = ResponseFields<Self>("InboxMessage") {
        Field("id", \.id)
        Field("kind", as: .enumeration(["email", "sms"]), \.kind.rawValue)
        Field("application", \.application)
        Field("from", \.from)
        Field("to", \.to)
        Field("subject", orNull: \.subject)
        Field("text", \.text)
        Field("html", orNull: \.html)
        Field("sentAt", \.sentAt)
    }
}
