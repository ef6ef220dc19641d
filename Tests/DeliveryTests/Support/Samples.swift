import Accounts
import Foundation
import ProviderKit
import Testing

@testable import Delivery

enum Samples {
    static let from = "Demo <no-reply@demo.example>"

    static func address(_ text: String = "ada@mail.example") throws -> EmailAddress {
        try #require(EmailAddress(text))
    }

    static func message(
        _ topic: MessageTopic = .confirmRegistration, to address: String = "ada@mail.example",
        link: String? = "https://demo.example/verify?token=abc", until: Date? = nil, locale: String? = nil
    ) throws -> Message {
        if topic == .signInCode || topic == .confirmAddress {
            return code(of: topic, to: .email(try self.address(address)), link: link, until: until, locale: locale)
        }
        var message = Message(
            topic, to: .email(try self.address(address)), link: link, until: until, provider: "Apple",
            identities: topic == .passwordReset ? ["Apple", "Google (ada@mail.example)"] : nil, locale: locale)
        if [.qrSignIn, .deviceConnected, .newDevice].contains(topic) {
            (message.device, message.address, message.place) = ("Firefox 120, Linux", "192.0.2.1", "Paris, France")
        }
        return message
    }

    static func number(_ text: String = "+33612345678") throws -> PhoneNumber {
        try #require(PhoneNumber(text))
    }

    static func code(
        _ code: String = "042137", of topic: MessageTopic = .signInCode, to address: Address, link: String? = nil,
        until: Date? = nil,
        locale: String? = nil
    ) -> Message {
        Message(topic, to: address, code: code, link: link, until: until, locale: locale)
    }

    static func text(
        to number: String = "+33612345678", text: String = "042137 is your code.", id: UUID = .v7()
    ) throws -> TextMessage {
        TextMessage(id: id, application: "demo", to: try self.number(number), text: text)
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
