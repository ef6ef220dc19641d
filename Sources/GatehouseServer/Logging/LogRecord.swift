import Foundation
import Logging

/// One log event with everything that a line of it shows.
struct LogRecord {
    let time: String
    let label: String
    let event: LogEvent
    /// Sorted by name; nested values have dotted names like `request.id` and `problems.0`.
    let metadata: [(name: String, value: String)]

    /// Metadata comes from the least to the most specific; the later ones win.
    init(_ event: LogEvent, label: String, at time: Date, metadata: [Logger.Metadata?]) {
        self.time = time.formatted(.iso8601Milliseconds)
        self.label = label
        self.event = event
        var flat: [String: String] = [:]
        let merged = metadata.compactMap(\.self).reduce(into: Logger.Metadata()) { $0.merge($1) { $1 } }
        for (name, value) in merged { Self.flatten(value, named: name, into: &flat) }
        if let error = event.error { flat["error"] = "\(error)" }
        self.metadata = flat.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private static func flatten(_ value: Logger.MetadataValue, named name: String, into flat: inout [String: String]) {
        switch value {
        case .string(let text): flat[name] = text
        case .stringConvertible(let value): flat[name] = value.description
        case .array(let values):
            for (index, value) in values.enumerated() { flatten(value, named: "\(name).\(index)", into: &flat) }
        case .dictionary(let values):
            for (key, value) in values { flatten(value, named: "\(name).\(key)", into: &flat) }
        }
    }
}

extension FormatStyle where Self == Date.ISO8601FormatStyle {
    /// RFC 3339 in UTC: `2026-01-31T12:00:00.000Z`.
    fileprivate static var iso8601Milliseconds: Self {
        Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    }
}
