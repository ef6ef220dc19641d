import Accounts
import Delivery
import Foundation
import ProviderKit
import Testing

struct MessageComposerTests {
    private static let link = "https://demo.example/verify?lang=en&token=abc_-DEF123"
    private static let until = Date(timeIntervalSince1970: 1_772_719_559)

    private let composer: MessageComposer

    init() throws {
        composer = try MessageComposer()
    }

    /// For each language, the sentence for people who did not request the message.
    private static let notYou = [
        "en": ["f it was not you", "f you did not ask for this"],
        "fr": ["i ce n'était pas vous", "i vous n'avez rien demandé"],
        "de": ["enn Sie das nicht waren"], "es": ["i no ha sido usted", "i no lo ha pedido usted"],
    ]
    /// For each language, the sentence for people who do not expect the message of an administrator.
    private static let notExpected: [MessageTopic: [String: String]] = [
        .invitation: [
            "en": "f you do not expect an invitation from Demo", "fr": "i vous n'attendez pas d'invitation de Demo",
            "de": "enn Sie keine Einladung von Demo", "es": "i no espera ninguna invitación de Demo",
        ],
        .recovery: [
            "en": "f you do not expect this", "fr": "i vous ne vous y attendez pas",
            "de": "enn Sie das nicht erwarten", "es": "i no lo esperaba",
        ],
    ]
    private static let doNotOpen = [
        "en": "do not open the link", "fr": "n'ouvrez pas le lien", "de": "öffnen Sie den Link nicht",
        "es": "no abra el enlace",
    ]

    @Test(arguments: MessageTopic.allCases, ["en", "fr", "de", "es"])
    func everyTopicIsShortAndNamesTheApplication(topic: MessageTopic, language: String) throws {
        let message = try Samples.message(topic, link: Self.link, until: Self.until, locale: language)
        let content = try composer.compose(message, application: "Demo & Söhne")
        #expect(content.language == language)
        #expect(content.subject.contains("Demo & Söhne"))
        #expect(content.text.contains("Demo & Söhne"))
        #expect(content.html.contains("Demo &amp; Söhne"))
        #expect(content.html.hasPrefix("<!DOCTYPE html>\n<html lang=\"\(language)\">"))
        #expect(content.html.contains("<title>\(content.subject.replacing("&", with: "&amp;"))</title>"))
        let rendered = content.subject + content.text + content.html
        #expect(!rendered.contains("{{") && !rendered.contains("}}") && !rendered.contains("Optional("))
        let notYou = try #require(Self.notExpected[topic].map { [$0[language] ?? ""] } ?? Self.notYou[language])
        let unwrapped = content.text.replacing("\n", with: " ")
        // Nothing that the reader may have done causes this message.
        #expect(topic == .signInEnding || notYou.contains { unwrapped.contains($0) })
        let lines = content.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count < 25)
        #expect(!content.text.contains("\n\n\n"))
        #expect(lines.allSatisfy { ($0.count <= 78 || $0 == Self.link) && $0.last != " " }, "\(lines)")
    }

    /// All other tests would accept a language whose texts are copies of another's.
    @Test(arguments: MessageTopic.allCases)
    func theLanguagesDiffer(topic: MessageTopic) throws {
        let contents = try ["en", "fr", "de", "es"].map { language in
            try composer.compose(try Samples.message(topic, locale: language), application: "demo")
        }
        #expect(Set(contents.map(\.subject)).count == 4)
        #expect(Set(contents.map(\.text)).count == 4)
    }

    @Test(
        arguments: [
            MessageTopic.confirmRegistration, .resetPassword, .confirmLink, .signInCode, .passwordReset, .invitation,
            .recovery,
        ], ["en", "fr", "de", "es"])
    func theLinkStandsAloneOnItsLine(topic: MessageTopic, language: String) throws {
        let message = try Samples.message(topic, link: Self.link, locale: language)
        let content = try composer.compose(message, application: "demo")
        let linkLines = content.text.components(separatedBy: "\n").filter { $0.contains("token=") }
        #expect(linkLines == [Self.link])
        #expect(content.html.contains("<a href=\"https://demo.example/verify?lang=en&amp;token=abc_-DEF123\">"))
        guard ![.signInCode, .passwordReset, .invitation].contains(topic) else { return }
        let doNotOpen = try #require(Self.doNotOpen[language])
        #expect(content.text.replacing("\n", with: " ").contains(doNotOpen))
        #expect(content.html.replacing("\n", with: " ").contains(doNotOpen))
    }

    @Test(arguments: ["en", "fr", "de", "es"])
    func aResetNamesEachIdentityOnItsLine(language: String) throws {
        let content = try composer.compose(try Samples.message(.passwordReset, locale: language), application: "demo")
        let lines = content.text.components(separatedBy: "\n").filter { $0.hasPrefix("- ") }
        #expect(lines == ["- Apple", "- Google (ada@mail.example)"])
        #expect(content.html.contains("<li>Apple</li>") && content.html.contains("<li>Google (ada@mail.example)</li>"))
    }

    /// In a mail there is no form that asks for a new password.
    @Test(arguments: [
        ("en", "where you sign in"), ("fr", "à l'endroit où vous vous connectez"), ("de", "dort, wo Sie sich anmelden"),
        ("es", "donde inicia sesión"),
    ])
    func aResetSaysWhereToAskForANewPassword(language: String, place: String) throws {
        let content = try composer.compose(try Samples.message(.passwordReset, locale: language), application: "demo")
        for body in [content.text, content.html] { #expect(body.replacing("\n", with: " ").contains(place)) }
    }

    /// The salutation ends in a comma.
    @Test(arguments: MessageTopic.allCases)
    func aGermanMailGoesOnInLowerCase(topic: MessageTopic) throws {
        let content = try composer.compose(try Samples.message(topic, locale: "de"), application: "demo")
        let word = try #require(content.text.firstMatch(of: /^Guten Tag,\n\n(\w+)/)?.output.1)
        #expect(word.first?.isLowercase == true || ["Sie", "Ihr", "Apple"].contains(word), "\(content.text)")
    }

    @Test(arguments: ["en", "fr", "de", "es"], [Self.link, nil])
    func theCodeStandsAloneOnItsLine(language: String, link: String?) throws {
        let message = try Samples.message(.signInCode, link: link, until: Self.until, locale: language)
        let content = try composer.compose(message, application: "demo")
        let lines = content.text.components(separatedBy: "\n")
        #expect(lines.filter { $0.contains("042137") } == ["042137"])
        #expect(content.html.contains(">042137<"))
        #expect(content.text.contains("token=") == (link != nil))
        #expect(content.html.contains("href") == (link != nil))
        #expect(!content.subject.contains("042137"))
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
            #expect(text.lowercased().replacing("\n", with: " ").contains("until 5 march 2026, 14:05 utc"))
        }
        for text in [untimed.text, untimed.html] {
            #expect(!text.lowercased().contains("until"))
        }
    }

    @Test(arguments: [
        ("fr", "jusqu'au 5 mars 2026 à 14:05 UTC"), ("de", "bis zum 5. März 2026, 14:05 Uhr (UTC)"),
        ("es", "hasta el 5 de marzo de 2026, 14:05 UTC"),
    ])
    func eachLanguageHasItsOwnTimes(language: String, time: String) throws {
        let message = try Samples.message(until: Self.until, locale: language)
        let text = try composer.compose(message, application: "demo").text
        #expect(text.replacing("\n", with: " ").contains(time))
    }

    @Test(arguments: [
        (nil, "en"), ("", "en"), ("*", "en"), ("it", "en"), ("fr", "fr"), ("fr-CA", "fr"), ("DE-at", "de"),
        ("es-419,es;q=0.9", "es"), ("fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5", "fr"),
        ("it, de;q=0.5, fr;q=0.8", "fr"), ("en;q=0.1, es", "es"), ("fr;q=0, de", "de"), ("fr;q=0", "en"),
        ("pt-BR;q=1.0,es;q=0.999", "es"), ("de;q=x, es;q=0.2", "es"), ("de;q=2", "en"), (";;,,;q=1,", "en"),
        ("fr\u{0}", "en"), ("../../etc, de", "de"), ("zh-Hant-TW, de-x-private", "de"), ("français", "en"),
        (String(repeating: "x-", count: 500), "en"), (String(repeating: ",", count: 500) + "fr", "en"),
    ])
    func theReaderChoosesTheLanguage(locale: String?, language: String) throws {
        let message = try Samples.message(locale: locale)
        #expect(try composer.compose(message, application: "demo").language == language)
    }

    /// Swift joins some letters and combining marks with their neighbours to one character; a browser does not.
    @Test func markupIsEscapedBesideScalarsThatJoinIt() throws {
        let name = "\u{0D4E}<a href=\"//elsewhere.example\"\u{0301} \u{0D4E}>"
        let address = try Samples.address("ada@mail.example")
        let message = Message(.accessGiven, to: .email(address), provider: name)
        let content = try composer.compose(message, application: name)
        let scalars = { (text: String) in text.unicodeScalars.count { "<>\"".unicodeScalars.contains($0) } }
        let plain = try composer.compose(
            Message(.accessGiven, to: .email(address), provider: "Reader"), application: "demo")
        #expect(scalars(content.html) == scalars(plain.html), "\(content.html)")
    }

    @Test func htmlIsEscapedAndTemplatesInValuesAreNot() throws {
        let name = "<script>\"'{{link}}</script>"
        let message = try Samples.message(link: "https://demo.example/\"><img src=x>")
        let content = try composer.compose(message, application: name)
        #expect(!content.html.contains("<script") && !content.html.contains("<img"))
        #expect(content.text.contains(name))
    }
}
