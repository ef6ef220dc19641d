package import Foundation
package import Logging

/// Short lines for a person at a terminal: `12:00:00.000 info  label: message  request.id=…`.
package struct ReadableLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let output: any LogOutput
    private let isColoured: Bool
    private let now: @Sendable () -> Date

    /// Colours are used, by default, where standard error is a terminal.
    package init(
        label: String, level: Logger.Level = .info, metadataProvider: Logger.MetadataProvider? = nil,
        output: any LogOutput = StandardError.shared, isColoured: Bool = StandardError.shared.isTerminal,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.label = label
        logLevel = level
        self.metadataProvider = metadataProvider
        self.output = output
        self.isColoured = isColoured
        self.now = now
    }

    package subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let record = LogRecord(
            event, label: label, at: now(), metadata: [metadata, metadataProvider?.get(), event.metadata])
        let time = record.time.split(separator: "T").last?.dropLast() ?? ""
        let level = event.level.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0)
        let values = record.metadata.map { "  \($0.name)=\($0.value)" }.joined().escapingControlCharacters
        let message = "\(label): \(event.message)".escapingControlCharacters
        output.write("\(time) \(coloured(level, by: event.level)) \(message)\(dimmed(values))")
    }

    private func coloured(_ text: String, by level: Logger.Level) -> String {
        switch level {
        case .trace, .debug: dimmed(text)
        case .info: painted(text, "32")
        case .notice: painted(text, "36")
        case .warning: painted(text, "33")
        case .error, .critical: painted(text, "31;1")
        }
    }

    private func dimmed(_ text: String) -> String {
        text.isEmpty ? text : painted(text, "2")
    }

    /// An SGR sequence (ECMA-48, 8.3.117) around the text.
    private func painted(_ text: String, _ code: String) -> String {
        isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
