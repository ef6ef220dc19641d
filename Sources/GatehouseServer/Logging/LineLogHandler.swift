package import Foundation
package import Logging
import Synchronization

/// Writes each log event as one line.
package struct LineLogHandler: LogHandler {
    package enum Format: Sendable {
        /// `{"time":"…","level":"info","label":"…","message":"…","metadata":{"request.id":"…"}}`
        ///
        /// All values are strings, so that a log collector can index each name with one type.
        case json
        /// `12:00:00.000 info  label: message  request.id=…`, for reading in a terminal.
        case readable(isColoured: Bool)
    }

    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let format: Format
    private let output: any LogOutput
    private let now: @Sendable () -> Date

    package init(
        _ format: Format, label: String, level: Logger.Level = .info, metadataProvider: Logger.MetadataProvider? = nil,
        output: any LogOutput = StandardError.shared, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.format = format
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
        switch format {
        case .json: output.write(record.json)
        case .readable(let isColoured): output.write(record.readable(isColoured: isColoured))
        }
    }
}

extension LineLogHandler.Format {
    /// The readable format, coloured if standard error is a terminal.
    static var readable: Self { .readable(isColoured: StandardError.shared.isTerminal) }
}

/// A log event with everything that its line contains.
private struct LogRecord {
    private let time: String
    private let label: String
    private let event: LogEvent
    /// Sorted by name; nested values have dotted names like `request.id` and `problems.0`.
    private let metadata: [(name: String, value: String)]

    /// Creates a record; later dictionaries of metadata override earlier ones.
    init(_ event: LogEvent, label: String, at time: Date, metadata: [Logger.Metadata?]) {
        // RFC 3339 in UTC: `2026-01-31T12:00:00.000Z`.
        self.time = time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
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

    var json: String {
        func member(_ name: String, _ value: String) -> String {
            "\"\(name.escapedForJSON)\":\"\(value.escapedForJSON)\""
        }
        var members = [
            member("time", time), member("level", event.level.rawValue), member("label", label),
            member("message", event.message.description),
        ]
        if !metadata.isEmpty { members.append("\"metadata\":{\(metadata.map(member).joined(separator: ","))}") }
        return "{\(members.joined(separator: ","))}"
    }

    func readable(isColoured: Bool) -> String {
        /// The text between SGR sequences (ECMA-48, 8.3.117) that set and reset a colour.
        func painted(_ text: String, _ code: String) -> String {
            isColoured && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
        }
        let colour =
            switch event.level {
            case .trace, .debug: "2"
            case .info: "32"
            case .notice: "36"
            case .warning: "33"
            case .error, .critical: "31;1"
            }
        let time = time.split(separator: "T").last?.dropLast() ?? ""
        let level = painted(event.level.rawValue.padding(toLength: 8, withPad: " ", startingAt: 0), colour)
        let message = "\(label): \(event.message)".escapingControlCharacters
        let values = metadata.map { "  \($0.name)=\($0.value)" }.joined().escapingControlCharacters
        return "\(time) \(level) \(message)\(painted(values, "2"))"
    }
}

/// The destination of log lines.
///
/// Lines from different threads are never interleaved.
package protocol LogOutput: Sendable {
    /// Writes a line; the text has no newline at its end.
    func write(_ line: String)
}

/// The standard error stream, which receives log lines.
///
/// Standard output is for the results of commands.
package final class StandardError: LogOutput {
    package static let shared = StandardError()

    private let descriptor = STDERR_FILENO
    private let lock = Mutex(())

    private init() {}
    package var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Writes a line, and blocks while the reader is slow.
    ///
    /// A line that can't be written is lost.
    package func write(_ line: String) {
        var bytes = Array(line.utf8)
        bytes.append(0x0A)
        lock.withLock { _ in bytes.withUnsafeBytes { write(all: $0) } }
    }

    private func write(all bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EAGAIN {
                var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&writable, 1, 1000)
            } else if count == 0 || errno != EINTR {
                return
            }
        }
    }
}
