package import Accounts
internal import Foundation
internal import ProviderKit

/// Renders messages in the recipient's language, from templates that are parsed and checked once.
package struct MessageComposer: Sendable {
    private struct Values {
        let application: String?
        let code: String?
        let link: String?
        let until: String?
        let provider: String?
        let identities: [String]?
        let device, address, place: String?
        let language: String
        var subject = ""

        init(_ message: Message, application: String?, language: String) {
            self.application = application
            code = message.code
            link = message.link
            until = message.until.map { MessageTime.text($0, language: language) }
            provider = message.provider
            identities = message.identities
            (device, address, place) = (message.device, message.address, message.place)
            self.language = language
        }
    }

    /// The language for recipients who accept none of the available languages.
    private static let fallback = "en"

    /// The built-in templates, parsed once in a process, because that takes longer than starting the rest of a server.
    private static let builtIn = Result { () throws(DeliveryError) in
        let layer = try TemplateOverrides.builtIn()
        return (layer: layer, sets: try TemplateSet.sets([layer]))
    }

    /// The templates by application and language tag, for applications with their own templates.
    private let applications: [String: [String: TemplateSet]]
    /// The templates of all other applications, by language tag.
    private let common: [String: TemplateSet]

    /// - Throws: `DeliveryError.unusableTemplate`, or `invalidSetting` if overrides are incomplete.
    package init(overrides: TemplateOverrides = .none) throws(DeliveryError) {
        let builtIn = try Self.builtIn.get()
        let layers = [builtIn.layer, overrides.common]
        common = overrides.common == TemplateLayer() ? builtIn.sets : try TemplateSet.sets(layers)
        var applications: [String: [String: TemplateSet]] = [:]
        for (name, layer) in overrides.applications { applications[name] = try TemplateSet.sets(layers + [layer]) }
        self.applications = applications
    }

    /// Renders a mail; `application` is the configured name, which selects the templates and appears in the text.
    package func compose(_ message: Message, application: String) throws(DeliveryError) -> MessageContent {
        let set = try templates(for: message, application: application)
        var values = Values(message, application: application, language: set.language)
        values.subject = try set.render(.subject, of: message.topic, with: values)
        return MessageContent(
            language: set.language, subject: values.subject,
            text: try set.render(.text, of: message.topic, with: values),
            html: try set.render(.html, of: message.topic, with: values))
    }

    /// Renders a text message, in which only the code or the link has digits.
    package func text(_ message: Message, application: String) throws(DeliveryError) -> String {
        let set = try templates(for: message, application: application)
        let name = application.contains(where: \.isNumber) ? nil : application
        return try set.render(
            .sms, of: message.topic, with: Values(message, application: name, language: set.language))
    }

    /// The templates of the first accepted language that includes the topic.
    private func templates(for message: Message, application: String) throws(DeliveryError) -> TemplateSet {
        let sets = applications[application] ?? common
        for tag in LanguageRange.tags(message.locale ?? "") + [Self.fallback] {
            if let set = sets[tag], set.has(message.topic) { return set }
        }
        throw .unusableTemplate(language: Self.fallback, name: message.topic.rawValue)
    }
}
