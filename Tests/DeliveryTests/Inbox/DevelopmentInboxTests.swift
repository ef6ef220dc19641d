import Accounts
import Delivery
import Foundation
import Testing

struct DevelopmentInboxTests {
    @Test func keepsTheNewestTwoHundredNewestFirst() async throws {
        let inbox = DevelopmentInbox()
        for number in 1...205 {
            await inbox.send(try Samples.mail(subject: "\(number)"))
        }
        let subjects = inbox.messages().map(\.subject)
        #expect(subjects.count == 200)
        #expect(subjects.first == "205")
        #expect(subjects.last == "6")
    }

    @Test func aRepeatedMailIsKeptOnce() async throws {
        let inbox = DevelopmentInbox()
        let mail = try Samples.mail()
        await inbox.send(mail)
        await inbox.send(mail)
        #expect(inbox.messages().map(\.id) == [mail.id])
    }

    @Test func showsWhatTheMailHolds() async throws {
        let inbox = DevelopmentInbox()
        let mail = try Samples.mail()
        await inbox.send(mail)
        let kept = try #require(inbox.messages().first)
        #expect(kept.kind == .email)
        #expect(kept.application == "demo")
        #expect(kept.from == "Demo <no-reply@demo.example>")
        #expect(kept.to == "ada@mail.example")
        #expect(kept.text == mail.content.text)
        #expect(kept.html == mail.content.html)
    }

    @Test func keepsTextMessagesBesideMails() async throws {
        let inbox = DevelopmentInbox()
        let message = try Samples.text()
        await inbox.send(try Samples.mail())
        await inbox.send(message)
        await inbox.send(message)
        #expect(inbox.messages().map(\.kind) == [.sms, .email])
        let kept = try #require(inbox.messages().first)
        #expect(kept.id == message.id && kept.to == "+33612345678" && kept.application == "demo")
        #expect(kept.text == message.text && kept.subject == nil && kept.html == nil)
    }
}
