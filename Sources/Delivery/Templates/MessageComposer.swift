package import Accounts
internal import Foundation
internal import Mustache

/// Renders messages from templates that were parsed, and thereby checked, once.
package struct MessageComposer: Sendable {
    private struct Values {
        let application: String
        let link: String?
        let code: String?
        let until: String?
        let provider: String?
        let language: String
        var subject = ""
    }

    private struct Parsed: Sendable {
        let subject: MustacheTemplate
        let text: MustacheTemplate
        let html: MustacheTemplate
    }

    private let templates: MessageTemplates
    private let parsed: [MessageTopic: Parsed]
    private let library: MustacheLibrary

    /// - Throws: `DeliveryError.unusableTemplate`.
    package init(_ templates: MessageTemplates = .english) throws(DeliveryError) {
        self.templates = templates
        library = MustacheLibrary(templates: [
            Self.layout: try Self.parse(templates.layout, name: Self.layout, language: templates.language)
        ])
        var parsed: [MessageTopic: Parsed] = [:]
        for topic in MessageTopic.allCases {
            parsed[topic] = try Self.parse(templates.source(topic), topic: topic, language: templates.language)
        }
        self.parsed = parsed
    }

    /// `application` is the name that people read.
    package func compose(_ message: Message, application: String) throws(DeliveryError) -> MessageContent {
        guard let parsed = parsed[message.topic] else {
            throw .unusableTemplate(language: templates.language, name: message.topic.rawValue)
        }
        var values = Values(
            application: application, link: message.link, code: message.code, until: message.until.map(templates.formatTime),
            provider: message.provider, language: templates.language)
        values.subject = parsed.subject.render(values)
        return MessageContent(
            language: templates.language, subject: values.subject, text: parsed.text.render(values),
            html: parsed.html.render(values, library: library))
    }

    private static let layout = "layout"
    /// Switches escaping off: `&` in a link is `&` in plain text.
    private static let unescaped = "{{% CONTENT_TYPE:TEXT}}"

    private static func parse(
        _ source: TemplateSource, topic: MessageTopic, language: String
    ) throws(DeliveryError) -> Parsed {
        let name = topic.rawValue
        let html = "{{<\(layout)}}{{$content}}\(source.html){{/content}}{{/\(layout)}}"
        return Parsed(
            subject: try parse(unescaped + source.subject, name: "\(name).subject", language: language),
            text: try parse(unescaped + source.text, name: "\(name).text", language: language),
            html: try parse(html, name: "\(name).html", language: language))
    }

    private static func parse(
        _ source: String, name: String, language: String
    ) throws(DeliveryError) -> MustacheTemplate {
        do {
            return try MustacheTemplate(string: source)
        } catch {
            throw .unusableTemplate(language: language, name: name)
        }
    }
}
