import Accounts
import Delivery
import Foundation
import Testing

struct TemplateOverridesTests {
    private func compose(
        _ files: [String: String], _ topic: MessageTopic = .confirmRegistration, locale: String? = nil,
        application: String = "demo"
    ) throws -> MessageContent {
        let composer = try MessageComposer(overrides: TemplateOverrides(files: files))
        return try composer.compose(Samples.message(topic, locale: locale), application: application)
    }

    @Test func aFileReplacesOnePartAndTheApplicationsOwnGoesBefore() throws {
        let files = [
            "fr/confirmRegistration.subject": "Bienvenue chez {{application}}\n",
            "applications/photos/fr/confirmRegistration.subject": "Vos photos",
            "applications/photos/en/confirmRegistration.text": "{{application}}\n\n  {{link}}\n",
        ]
        #expect(try compose(files, locale: "fr").subject == "Bienvenue chez demo")
        #expect(try compose(files, locale: "fr").text.hasPrefix("Bonjour,"))
        #expect(try compose(files, locale: "fr", application: "photos").subject == "Vos photos")
        #expect(try compose(files, application: "photos").text.hasPrefix("photos\n\n  https"))
        #expect(try compose(files).subject == "Confirm your e-mail address for demo")
        #expect(try compose(files, .resetPassword, locale: "fr", application: "photos").subject.hasPrefix("Choisissez"))
    }

    @Test func anotherLanguageForSomeTopics() throws {
        let files = [
            "it/confirmRegistration.subject": "Conferma", "it/confirmRegistration.text": "Ciao\n{{link}}\n{{until}}",
            "it/confirmRegistration.html": "<a href=\"{{link}}\">Ciao</a>",
        ]
        let content = try compose(files, locale: "it-IT, fr;q=0.5")
        #expect(content.language == "it" && content.subject == "Conferma")
        #expect(content.html.contains("<html lang=\"it\">"))
        #expect(try compose(files, .resetPassword, locale: "it-IT, fr;q=0.5").language == "fr")
        #expect(try compose(files, .resetPassword, locale: "it").language == "en")
        let composer = try MessageComposer(overrides: TemplateOverrides(files: files))
        let timed = try Samples.message(until: Date(timeIntervalSince1970: 1_772_719_559), locale: "it")
        #expect(try composer.compose(timed, application: "demo").text.hasSuffix("2026-03-05 14:05 UTC"))
    }

    @Test func theLayoutIsReplacedToo() throws {
        let files = [
            "layout.html": "<body>{{$content}}{{/content}}</body>",
            "applications/photos/layout.html": "<main lang={{language}}>{{$content}}{{/content}}</main>",
        ]
        #expect(try compose(files).html.hasPrefix("<body><p>Hello,"))
        #expect(try compose(files, locale: "de", application: "photos").html.hasPrefix("<main lang=de><p>Guten Tag,"))
    }

    @Test func whatIsNoTemplateIsOfNoInterest() throws {
        let files = [
            "README.md": "x", "Sources/en/x.swift": "x", "en/.DS_Store": "x", "applications/README": "x",
            "english/resetPassword.text": "x", "en/deeper/resetPassword.text": "x",
        ]
        #expect(try TemplateOverrides(files: files) == .none)
        #expect(files.keys.allSatisfy { !TemplateOverrides.concerns($0) })
        #expect(TemplateOverrides.leads("en") && TemplateOverrides.leads("applications/photos/pt-BR"))
        #expect(!TemplateOverrides.leads("Sources") && !TemplateOverrides.leads("applications/photos/Sources"))
    }

    @Test(arguments: [
        ("en/confirmRegistraton.text", "x", "is not the name of a template, such as en/signInCode.text"),
        ("en/confirmRegistration.txt", "x", "is not the name of a template, such as en/signInCode.text"),
        ("en/confirmRegistration", "x", "is not the name of a template, such as en/signInCode.text"),
        ("en/resetPassword.sms", "{{link}}", "is not the name of a template, such as en/signInCode.text"),
        ("en/resetPassword.subject", "\n", "is empty"),
        ("en/resetPassword.text", "Open {{link}} now", "has no line with nothing but {{link}}"),
        ("en/resetPassword.html", "<p>Hello</p>", "has no {{link}}"),
        ("de/signInCode.text", "Code: {{code}}", "has no line with nothing but {{code}}"),
        ("de/signInCode.sms", "Hallo", "has no {{code}}"),
        ("de/signInCode.sms", "{{code}}, Hotline 0800", "has a digit that is not the code's"),
        ("applications/a/de/signInCode.sms", "{{code}} \u{664}", "has a digit that is not the code's"),
        ("layout.html", "<body></body>", "has no {{$content}}{{/content}}"),
    ])
    func whatWouldSendUselessMessagesIsRefused(path: String, content: String, reason: String) {
        #expect(throws: DeliveryError.invalidSetting(field: "delivery.templates", reason: "\(path) \(reason)")) {
            try TemplateOverrides(files: [path: content])
        }
    }

    @Test func aNewLanguageNeedsAllPartsOfATopic() throws {
        let overrides = try TemplateOverrides(files: ["it/passwordChanged.subject": "Ciao"])
        let reason = "it/passwordChanged.text is missing, and it is not built in"
        #expect(throws: DeliveryError.invalidSetting(field: "delivery.templates", reason: reason)) {
            try MessageComposer(overrides: overrides)
        }
    }

    @Test func brokenMustacheIsFoundAtInitialisation() throws {
        let overrides = try TemplateOverrides(files: ["fr/passwordChanged.text": "{{#open}} jamais fermé"])
        #expect(throws: DeliveryError.unusableTemplate(language: "fr", name: "passwordChanged.text")) {
            try MessageComposer(overrides: overrides)
        }
    }
}
