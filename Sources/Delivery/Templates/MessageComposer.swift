package import Accounts
internal import Foundation

/// Renders messages in the language of their reader, from templates that are parsed, and so checked, once.
package struct MessageComposer: Sendable {
    private struct Values {
        let application: String?
        let code: String?
        let link: String?
        let until: String?
        let provider: String?
        let identities: [String]?
        let language: String
        var subject = ""

        init(_ message: Message, application: String?, language: String) {
            self.application = application
            code = message.code
            link = message.link
            until = message.until.map { MessageTime.text($0, language: language) }
            provider = message.provider
            identities = message.identities
            self.language = language
        }
    }

    /// The language of readers who accept none of the others.
    private static let fallback = "en"

    /// By application and language tag, for the applications with templates of their own.
    private let applications: [String: [String: TemplateSet]]
    /// For all other applications.
    private let common: [String: TemplateSet]

    /// - Throws: `DeliveryError.unusableTemplate`, or `invalidSetting` if overrides are incomplete.
    package init(overrides: TemplateOverrides = .none) throws(DeliveryError) {
        let layers = [try TemplateOverrides.builtIn(), overrides.common]
        common = try TemplateSet.sets(layers)
        var applications: [String: [String: TemplateSet]] = [:]
        for (name, layer) in overrides.applications {
            applications[name] = try TemplateSet.sets(layers + [layer])
        }
        self.applications = applications
    }

    /// Composes a mail; `application` is the name that people read.
    package func compose(_ message: Message, application: String) throws(DeliveryError) -> MessageContent {
        let set = try templates(for: message, application: application)
        var values = Values(message, application: application, language: set.language)
        values.subject = try set.render(.subject, of: message.topic, with: values)
        return MessageContent(
            language: set.language, subject: values.subject,
            text: try set.render(.text, of: message.topic, with: values),
            html: try set.render(.html, of: message.topic, with: values))
    }

    /// Composes a text message, in which the code is the only run of digits.
    package func text(_ message: Message, application: String) throws(DeliveryError) -> String {
        let set = try templates(for: message, application: application)
        let name = application.contains(where: \.isNumber) ? nil : application
        return try set.render(
            .sms, of: message.topic, with: Values(message, application: name, language: set.language))
    }

    /// The templates of the first accepted language that has the topic.
    private func templates(for message: Message, application: String) throws(DeliveryError) -> TemplateSet {
        let sets = applications[application] ?? common
        for tag in LanguageRange.tags(message.locale ?? "") + [Self.fallback] {
            if let set = sets[tag], set.has(message.topic) { return set }
        }
        throw .unusableTemplate(language: Self.fallback, name: message.topic.rawValue)
    }
}
