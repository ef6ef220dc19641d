package import Foundation
package import Logging

/// One JSON object a line:
/// `{"time":"…","level":"info","label":"…","message":"…","metadata":{"request.id":"…"}}`.
///
/// Every value is a string, whatever its type was, so that a collector's index keeps one type for each name.
package struct JSONLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let output: any LogOutput
    private let now: @Sendable () -> Date

    package init(
        label: String, level: Logger.Level = .info, metadataProvider: Logger.MetadataProvider? = nil,
        output: any LogOutput = StandardError.shared, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.label = label
        logLevel = level
        self.metadataProvider = metadataProvider
        self.output = output
        self.now = now
    }

    package subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let record = LogRecord(
            event, label: label, at: now(), metadata: [metadata, metadataProvider?.get(), event.metadata])
        var members = [
            Self.member("time", record.time), Self.member("level", record.event.level.rawValue),
            Self.member("label", record.label), Self.member("message", record.event.message.description),
        ]
        if !record.metadata.isEmpty {
            let values = record.metadata.map { Self.member($0.name, $0.value) }
            members.append("\"metadata\":{\(values.joined(separator: ","))}")
        }
        output.write("{\(members.joined(separator: ","))}")
    }

    private static func member(_ name: String, _ value: String) -> String {
        "\"\(name.escapedForJSON)\":\"\(value.escapedForJSON)\""
    }
}
