extension Page {
    /// The mails and texts that `gatehouse dev` would have sent; `server` is the address for the example call.
    ///
    /// The page requests the JSON every two seconds. If that has a message that the page does not show, the page takes
    /// the new messages out of its own HTML: what is open stays open, and markup is made in one place only.
    ///
    /// A mail's HTML is shown in a frame without scripts and without an origin. A frame made from text inherits the
    /// policy of its page, which therefore allows inline styles.
    static func inbox(_ inbox: InboxPayload, server: String, nonce: PageNonce = PageNonce()) -> Page {
        let page = Page(
            title: "Inbox",
            main: HTML(
                file: "inbox.html",
                [
                    "hidden": inbox.messages.isEmpty ? "" : " hidden", "example": "\(registration(at: server))",
                    "messages": inbox.messages.map(message).joined(),
                ]),
            style: HTML(file: "inbox.css"), script: HTML(file: "inbox.js"), nonce: nonce, isWide: true)
        let policy = policy(scriptAllowedBy: nonce, style: "'unsafe-inline'", images: "data:")
        return Page(html: page.html, contentSecurityPolicy: policy)
    }

    private static func registration(at server: String) -> String {
        """
        curl \(server)\(base)/auth/register \\
          -H 'Content-Type: application/json' \\
          -d '{"email": "ann@example.com", "password": "seven quiet marmots"}'
        """
    }

    private static func message(_ message: InboxPayload.Message) -> HTML {
        HTML(
            file: "inbox-message.html",
            [
                "id": "\(message.id)", "subject": "\(message.subject ?? firstLine(of: message.text))",
                "kind": message.kind == .sms ? "Text message" : "Mail", "to": "\(message.to)",
                "from": "\(message.from)", "application": "\(message.application)",
                "sentAt": "\(message.sentAt.text)", "text": HTML(linking: message.text),
                "frame": message.html.map(frame) ?? "",
            ])
    }

    /// Links in the mail open in a new window without the frame's restrictions, so that their pages work.
    private static func frame(_ html: String) -> HTML {
        let document = "<!doctype html><meta charset=\"utf-8\"><base target=\"_blank\">" + html
        return HTML(file: "inbox-frame.html", ["document": "\(document)"])
    }

    private static func firstLine(of text: String) -> String {
        String(text.split(whereSeparator: \.isNewline).first?.prefix(80) ?? "")
    }
}
