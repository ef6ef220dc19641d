import Accounts
import Delivery
import Foundation
import Testing

struct MessageComposerTests {
    private static let link = "https://demo.example/verify?lang=en&token=abc_-DEF123"
    private static let until = Date(timeIntervalSince1970: 1_772_719_559)

    private let composer: MessageComposer

    init() throws {
        composer = try MessageComposer()
    }

    @Test(arguments: MessageTopic.allCases)
    func everyTopicIsShortAndNamesTheApplication(topic: MessageTopic) throws {
        let message = try Samples.message(topic, link: Self.link, until: Self.until)
        let content = try composer.compose(message, application: "Demo & Söhne")
        #expect(content.subject.contains("Demo & Söhne"))
        #expect(content.text.contains("Demo & Söhne"))
        #expect(content.html.contains("Demo &amp; Söhne"))
        #expect(content.html.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
        #expect(content.html.contains("<title>\(content.subject.replacing("&", with: "&amp;"))</title>"))
        let rendered = content.subject + content.text + content.html
        #expect(!rendered.contains("{{") && !rendered.contains("}}") && !rendered.contains("Optional("))
        #expect(content.text.contains("f it was not you") || content.text.contains("f you did not ask for this"))
        let lines = content.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count < 25)
        #expect(!content.text.contains("\n\n\n"))
        #expect(lines.allSatisfy { $0.count <= 78 && $0.last != " " })
    }

    @Test(arguments: [MessageTopic.confirmRegistration, .resetPassword])
    func theLinkStandsAloneOnItsLine(topic: MessageTopic) throws {
        let content = try composer.compose(Samples.message(topic, link: Self.link), application: "demo")
        let linkLines = content.text.components(separatedBy: "\n").filter { $0.contains("token=") }
        #expect(linkLines == [Self.link])
        #expect(content.html.contains("<a href=\"https://demo.example/verify?lang=en&amp;token=abc_-DEF123\">"))
        #expect(content.text.contains("do not open the link"))
        #expect(content.html.contains("do not open the link"))
    }

    @Test(arguments: [MessageTopic.registrationOfTakenAddress, .passwordChanged, .accountDeleted, .accountRestored])
    func otherMessagesHoldNoLink(topic: MessageTopic) throws {
        let content = try composer.compose(Samples.message(topic, link: Self.link), application: "demo")
        #expect(!content.text.contains("token=") && !content.html.contains("token="))
        #expect(!content.html.contains("href"))
    }

    @Test(arguments: [MessageTopic.confirmRegistration, .resetPassword, .accountDeleted])
    func theTimeIsToldWhereThereIsOne(topic: MessageTopic) throws {
        let timed = try composer.compose(Samples.message(topic, until: Self.until), application: "demo")
        let untimed = try composer.compose(Samples.message(topic), application: "demo")
        for text in [timed.text, timed.html] {
            #expect(text.lowercased().contains("until 5 march 2026, 14:05 utc"))
        }
        for text in [untimed.text, untimed.html] {
            #expect(!text.lowercased().contains("until"))
        }
    }

    @Test func htmlIsEscapedAndTemplatesInValuesAreNot() throws {
        let name = "<script>\"'{{link}}</script>"
        let message = try Samples.message(link: "https://demo.example/\"><img src=x>")
        let content = try composer.compose(message, application: name)
        #expect(!content.html.contains("<script") && !content.html.contains("<img"))
        #expect(content.text.contains(name))
    }

    @Test func aBrokenTemplateIsFoundAtInitialisation() {
        let broken = MessageTemplates(language: "xx", formatTime: { _ in "" }) { topic in
            let text = topic == .resetPassword ? "{{#open}} never closed" : "fine"
            return TemplateSource(subject: "s", text: text, html: "h")
        }
        #expect(throws: DeliveryError.unusableTemplate(language: "xx", name: "resetPassword.text")) {
            try MessageComposer(broken)
        }
    }

    @Test func anotherLanguageBringsItsOwnWords() throws {
        let french = MessageTemplates(language: "fr", formatTime: { _ in "demain" }) { _ in
            TemplateSource(
                subject: "Bonjour de {{application}}", text: "Jusqu'à {{until}}\n{{link}}", html: "<p>Salut</p>")
        }
        let message = try Samples.message(link: Self.link, until: Self.until)
        let content = try MessageComposer(french).compose(message, application: "demo")
        #expect(content.language == "fr")
        #expect(content.subject == "Bonjour de demo")
        #expect(content.text == "Jusqu'à demain\n\(Self.link)")
        #expect(content.html.contains("<html lang=\"fr\">") && content.html.contains("<p>Salut</p>"))
    }
}
