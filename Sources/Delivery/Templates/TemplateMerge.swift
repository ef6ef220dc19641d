internal import Accounts
internal import Foundation

/// Lays overrides over the templates of all languages, the later ones over the earlier.
struct TemplateMerge {
    let languages: [MessageTemplates]
    let layers: [TemplateOverrides.Layer]

    /// By language in lower case.
    func sets() throws(DeliveryError) -> [String: TemplateSet] {
        var sets: [String: TemplateSet] = [:]
        for language in languages {
            let tag = language.language.lowercased()
            var sources: [MessageTopic: TemplateSource] = [:]
            for topic in MessageTopic.allCases {
                var source = language.source(topic)
                source.replace(parts(tag, topic))
                sources[topic] = source
            }
            sets[tag] = try TemplateSet(
                language: language.language, layout: layout ?? language.layout, formatTime: language.formatTime,
                sources: sources)
        }
        for tag in Set(layers.flatMap { $0.languages.keys }) where sets[tag] == nil {
            sets[tag] = try TemplateSet(
                language: tag, layout: layout ?? MessageTemplates.plainLayout, formatTime: Self.formatTime,
                sources: try sources(of: tag))
        }
        return sets
    }

    private var layout: String? { layers.compactMap(\.layout).last }

    /// Of a language that there is nothing built in for.
    private func sources(of tag: String) throws(DeliveryError) -> [MessageTopic: TemplateSource] {
        var sources: [MessageTopic: TemplateSource] = [:]
        for topic in MessageTopic.allCases {
            let parts = parts(tag, topic)
            guard !parts.isEmpty else { continue }
            for part in TemplateOverrides.Part.allCases
            where parts[part] == nil && (part != .sms || topic.canBeText) {
                throw .invalidSetting(
                    field: "delivery.templates",
                    reason: "\(tag)/\(topic.rawValue).\(part.rawValue) is missing, and \(tag) is not built in")
            }
            var source = TemplateSource(subject: "", text: "", html: "")
            source.replace(parts)
            sources[topic] = source
        }
        return sources
    }

    private func parts(_ tag: String, _ topic: MessageTopic) -> [TemplateOverrides.Part: String] {
        layers.reduce(into: [:]) { parts, layer in
            parts.merge(layer.languages[tag]?[topic] ?? [:]) { $1 }
        }
    }

    /// What everybody can read.
    private static let formatTime: @Sendable (Date) -> String = { date in
        let text = date.formatted(
            .iso8601.year().month().day().dateTimeSeparator(.space).time(includingFractionalSeconds: false))
        return "\(text.prefix(16)) UTC"
    }
}

extension TemplateSource {
    fileprivate mutating func replace(_ parts: [TemplateOverrides.Part: String]) {
        subject = parts[.subject] ?? subject
        text = parts[.text] ?? text
        html = parts[.html] ?? html
        sms = parts[.sms] ?? sms
    }
}
