internal import Accounts
internal import Foundation
internal import Mustache
internal import ProviderKit

/// The parsed templates of one language, for one application or for all others.
struct TemplateSet: Sendable {
    /// The language as a BCP 47 tag.
    let language: String
    private var templates: [MessageTopic: [TemplateLayer.Part: MustacheTemplate]] = [:]
    /// The Mustache library with the layout.
    private let library: MustacheLibrary

    /// Parses the templates of every language in the layers; later layers replace parts of earlier ones.
    /// - Returns: the sets by language tag in lower case.
    /// - Throws: `DeliveryError.unusableTemplate`, or `invalidSetting` if parts of a message are missing.
    static func sets(_ layers: [TemplateLayer]) throws(DeliveryError) -> [String: TemplateSet] {
        var sets: [String: TemplateSet] = [:]
        for tag in Set(layers.flatMap(\.languages.keys)) { sets[tag] = try TemplateSet(language: tag, layers: layers) }
        return sets
    }

    private init(language: String, layers: [TemplateLayer]) throws(DeliveryError) {
        self.language = language
        MustacheContentTypes.register(EscapedHTML(), named: "MAIL")
        let layout = layers.compactMap(\.layout).last ?? ""
        library = MustacheLibrary(templates: [
            Self.layout: try Self.parse(Self.escaped + layout, name: Self.layout, language: language)
        ])
        for topic in MessageTopic.allCases {
            var parts: [TemplateLayer.Part: String] = [:]
            for layer in layers { parts.merge(layer.languages[language]?[topic] ?? [:]) { $1 } }
            guard !parts.isEmpty else { continue }
            for part in TemplateLayer.Part.allCases where part != .sms || topic.canBeText {
                let name = "\(topic.rawValue).\(part.rawValue)"
                guard let source = parts[part] else {
                    throw .invalidSetting(
                        field: "delivery.templates",
                        reason: "\(language)/\(name) is missing, and \(language) is not built in")
                }
                templates[topic, default: [:]][part] = try Self.parse(
                    part == .html ? Self.inLayout(source) : Self.unescaped + source, name: name, language: language)
            }
        }
    }

    func has(_ topic: MessageTopic) -> Bool { templates[topic] != nil }

    /// - Throws: `DeliveryError.unusableTemplate` if the topic has no such part.
    func render(
        _ part: TemplateLayer.Part, of topic: MessageTopic, with values: some Any
    ) throws(DeliveryError) -> String {
        guard let template = templates[topic]?[part] else {
            throw .unusableTemplate(language: language, name: "\(topic.rawValue).\(part.rawValue)")
        }
        return template.render(values, library: library)
    }

    private static let layout = "layout"
    /// A prefix for templates of plain text that turns HTML escaping off.
    private static let unescaped = "{{% CONTENT_TYPE:TEXT}}"

    /// A prefix for templates of HTML.
    private static let escaped = "{{% CONTENT_TYPE:MAIL}}"

    private static func inLayout(_ html: String) -> String {
        "\(escaped){{<\(layout)}}{{$content}}\(html){{/content}}{{/\(layout)}}"
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

/// The template engine's own type for HTML escapes characters instead of Unicode scalars.
private struct EscapedHTML: MustacheContentType {
    func escapeText(_ text: String) -> String { text.escapedHTML }
}
