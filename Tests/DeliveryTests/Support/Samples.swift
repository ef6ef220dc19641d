import Accounts
import Delivery
import Foundation
import ProviderKit
import Testing

enum Samples {
    static let from = "Demo <no-reply@demo.example>"

    static func address(_ text: String = "ada@mail.example") throws -> EmailAddress {
        try #require(EmailAddress(text))
    }

    static func message(
        _ topic: MessageTopic = .confirmRegistration, to address: String = "ada@mail.example",
        link: String? = "https://demo.example/verify?token=abc", until: Date? = nil
    ) throws -> Message {
        Message(topic, to: try self.address(address), link: link, until: until, provider: "Apple")
    }

    static func mail(
        from: String = Samples.from, to address: String = "ada@mail.example", subject: String = "Hello",
        text: String = "Hello,\n\nhow are you?\n", html: String = "<p>Hello</p>", id: UUID = .v7(),
        date: Date = Date(timeIntervalSince1970: 1_772_719_509)
    ) throws -> Mail {
        Mail(
            id: id, application: "demo", from: try Mailbox(from), to: try self.address(address), date: date,
            content: MessageContent(language: "en", subject: subject, text: text, html: html))
    }
}
