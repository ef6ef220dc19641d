package import Accounts
internal import Foundation
internal import Mustache

/// Renders messages in the language that their reader wants, from templates that were parsed, and thereby checked, once.
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
    }

    /// By language in lower case, for the applications with templates of their own.
    private let applications: [String: [String: TemplateSet]]
    /// For all others.
    private let common: [String: TemplateSet]
    private let fallback: String

    /// With one language alone.
    ///
    /// - Throws: `DeliveryError.unusableTemplate`.
    package init(_ templates: MessageTemplates) throws(DeliveryError) {
        try self.init([templates])
    }

    /// The first of the languages is for who wants none of them.
    ///
    /// - Throws: `DeliveryError.unusableTemplate`, or `invalidSetting` where overrides are incomplete.
    package init(
        _ languages: [MessageTemplates] = MessageTemplates.builtIn, overrides: TemplateOverrides = .none
    ) throws(DeliveryError) {
        fallback = languages.first?.language.lowercased() ?? ""
        common = try TemplateMerge(languages: languages, layers: [overrides.common]).sets()
        var applications: [String: [String: TemplateSet]] = [:]
        for (name, layer) in overrides.applications {
            applications[name] = try TemplateMerge(languages: languages, layers: [overrides.common, layer]).sets()
        }
        self.applications = applications
    }

    /// A mail; `application` is the name that people read.
    package func compose(_ message: Message, application: String) throws(DeliveryError) -> MessageContent {
        let (set, parsed) = try templates(for: message, application: application)
        var values = values(of: message, application: application, in: set)
        values.subject = parsed.subject.render(values)
        return MessageContent(
            language: set.language, subject: values.subject, text: parsed.text.render(values),
            html: parsed.html.render(values, library: set.library))
    }

    /// A text message, in which the code is the only run of digits.
    package func text(_ message: Message, application: String) throws(DeliveryError) -> String {
        let (set, parsed) = try templates(for: message, application: application)
        guard let sms = parsed.sms else {
            throw .unusableTemplate(language: set.language, name: "\(message.topic.rawValue).sms")
        }
        let name = application.contains(where: \.isNumber) ? nil : application
        return sms.render(values(of: message, application: name, in: set))
    }

    private func values(of message: Message, application: String?, in set: TemplateSet) -> Values {
        Values(
            application: application, code: message.code, link: message.link,
            until: message.until.map(set.formatTime), provider: message.provider,
            identities: message.identities, language: set.language)
    }

    /// The first language wanted that has the topic.
    private func templates(
        for message: Message, application: String
    ) throws(DeliveryError) -> (TemplateSet, TemplateSet.Parsed) {
        let sets = applications[application] ?? common
        for tag in LanguageRange.tags(message.locale ?? "") + [fallback] {
            if let set = sets[tag], let parsed = set.parsed[message.topic] { return (set, parsed) }
        }
        throw .unusableTemplate(language: fallback, name: message.topic.rawValue)
    }
}
