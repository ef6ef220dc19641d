internal import Accounts
internal import Foundation
internal import Mustache

/// One language's templates for one application, or for all, parsed and thereby checked.
struct TemplateSet: Sendable {
    struct Parsed: Sendable {
        let subject: MustacheTemplate
        let text: MustacheTemplate
        let html: MustacheTemplate
        let sms: MustacheTemplate?
    }

    /// A BCP 47 tag.
    let language: String
    let formatTime: @Sendable (Date) -> String
    let parsed: [MessageTopic: Parsed]
    /// Holds the layout.
    let library: MustacheLibrary

    /// - Throws: `DeliveryError.unusableTemplate`.
    init(
        language: String, layout: String, formatTime: @escaping @Sendable (Date) -> String,
        sources: [MessageTopic: TemplateSource]
    ) throws(DeliveryError) {
        self.language = language
        self.formatTime = formatTime
        library = MustacheLibrary(templates: [
            Self.layout: try Self.parse(layout, name: Self.layout, language: language)
        ])
        var parsed: [MessageTopic: Parsed] = [:]
        for (topic, source) in sources {
            parsed[topic] = try Self.parse(source, topic: topic, language: language)
        }
        self.parsed = parsed
    }

    private static let layout = "layout"
    /// Switches escaping off: `&` in a link is `&` in plain text.
    private static let unescaped = "{{% CONTENT_TYPE:TEXT}}"

    private static func parse(
        _ source: TemplateSource, topic: MessageTopic, language: String
    ) throws(DeliveryError) -> Parsed {
        let name = topic.rawValue
        let html = "{{<\(layout)}}{{$content}}\(source.html){{/content}}{{/\(layout)}}"
        var sms: MustacheTemplate?
        if let text = source.sms {
            sms = try parse(unescaped + text, name: "\(name).sms", language: language)
        }
        return Parsed(
            subject: try parse(unescaped + source.subject, name: "\(name).subject", language: language),
            text: try parse(unescaped + source.text, name: "\(name).text", language: language),
            html: try parse(html, name: "\(name).html", language: language), sms: sms)
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
