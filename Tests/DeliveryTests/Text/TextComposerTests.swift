import Accounts
import Delivery
import Foundation
import ProviderKit
import Testing

struct TextComposerTests {
    private let composer: MessageComposer

    init() throws {
        composer = try MessageComposer()
    }

    private func text(_ language: String, application: String = "Demo", code: String = "042137") throws -> String {
        let message = Samples.code(
            code, to: .phone(try Samples.number()), link: "https://demo.example/?token=1", until: Date(),
            locale: language)
        return try composer.text(message, application: application)
    }

    /// The digits in a name could be taken for the code, so the message omits such a name.
    @Test(arguments: ["en", "fr", "de", "es"], ["Demo", "Route 66", "4ever", "Café ٣", "²", "B1", "a & b <c>"])
    func theCodeIsTheOnlyRunOfDigits(language: String, application: String) throws {
        let text = try text(language, application: application)
        #expect(text.split { !$0.isNumber } == ["042137"])
        #expect(text.contains(application) == !application.contains(where: \.isNumber))
        #expect(!text.contains("{{") && !text.contains("\n") && text.hasPrefix("042137 ") && text.hasSuffix("."))
    }

    /// The GSM 7-bit alphabet.
    ///
    /// Other characters would split a text into two or three messages (3GPP TS 23.038).
    private static let alphabet = """
        @£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§\
        ¿abcdefghijklmnopqrstuvwxyzäöñüà
        """

    @Test(arguments: ["en", "fr", "de", "es"])
    func oneMessageOfTheDefaultAlphabet(language: String) throws {
        let text = try text(language, application: String(repeating: "x", count: 60))
        #expect(text.allSatisfy { Self.alphabet.contains($0) })
        #expect(text.count <= 160)
    }

    @Test(
        arguments: [
            MessageTopic.addressChanged, .identityLinked, .accessGiven, .qrSignIn, .deviceConnected, .appRebound,
            .newDevice, .signInEnding,
            .identityRemoved, .accountsMerged, .mergeUndone, .accountDeleted, .accountRestored, .passwordChanged,
            .recoveryShown,
            .accountExported,
        ], ["en", "fr", "de", "es"])
    func aNoticeIsOneMessageWithoutADigit(topic: MessageTopic, language: String) throws {
        for application in [String(repeating: "x", count: 60), "Route 66"] {
            let message = Message(
                topic, to: .phone(try Samples.number()), until: Date(), provider: "4 me", locale: language)
            let text = try composer.text(message, application: application)
            #expect(text.allSatisfy { Self.alphabet.contains($0) && !$0.isNumber }, "\(text)")
            #expect(text.count <= 160 && text.hasSuffix(".") && !text.contains("\n"), "\(text)")
        }
    }

    @Test(arguments: [
        ("en", "for now", "add another one"), ("fr", "pour le moment", "un autre moyen de connexion"),
        ("de", "vorerst", "andere einrichten"), ("es", "por ahora", "otro acceso"),
    ])
    func anEndingSignInIsOneForNow(language: String, time: String, remedy: String) throws {
        let message = Message(.signInEnding, to: .phone(try Samples.number()), provider: "Apple", locale: language)
        let text = try composer.text(message, application: "Demo")
        #expect(text.contains(time) && text.contains(remedy), "\(text)")
    }

    @Test(arguments: [MessageTopic.invitation, .recovery], ["en", "fr", "de", "es"])
    func aLinkEndsItsMessage(topic: MessageTopic, language: String) throws {
        let link = "https://demo.example/invitation?token=abc_-DEF123"
        for application in ["Demo", "Route 66"] {
            let message = Message(topic, to: .phone(try Samples.number()), link: link, until: Date(), locale: language)
            let text = try composer.text(message, application: application)
            #expect(text.hasSuffix(" \(link)") && !text.contains("\n") && !text.contains("{{"), "\(text)")
            let words = text.dropLast(link.count)
            #expect(words.allSatisfy { Self.alphabet.contains($0) && !$0.isNumber } && words.count <= 80, "\(text)")
            #expect(words.contains(application) == (application == "Demo"))
        }
    }

    @Test func theLanguagesDiffer() throws {
        #expect(Set(try ["en", "fr", "de", "es"].map { try text($0) }).count == 4)
    }

    @Test func whatHasNoTextIsUnusable() throws {
        #expect(throws: DeliveryError.unusableTemplate(language: "en", name: "resetPassword.sms")) {
            try composer.text(Samples.message(.resetPassword), application: "demo")
        }
    }

    @Test func earlierMessagesAreMails() throws {
        let earlier = """
            {"id":"01980000-0000-7000-8000-000000000000","topic":"resetPassword","to":"ada@mail.example","link":"x"}
            """
        let message = try JSONDecoder().decode(Message.self, from: Data(earlier.utf8))
        #expect(message.channel == .email && message.code == nil && message.locale == nil && message.link == "x")
    }

    @Test func aMessageIsReadBackAsItWas() throws {
        let message = Samples.code(to: .phone(try Samples.number()), until: Date(), locale: "fr-CH, fr;q=0.9")
        let copy = try JSONDecoder().decode(Message.self, from: JSONEncoder().encode(message))
        #expect(copy == message && copy.channel == .sms && copy.to == "+33612345678")
    }
}
