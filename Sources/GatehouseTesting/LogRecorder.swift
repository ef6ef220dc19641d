package import Logging

internal import Synchronization

/// Keeps every log line with its metadata.
package final class LogRecorder: Sendable {
    package struct Line: Sendable {
        package let level: Logger.Level
        package let text: String
    }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            recorder.kept.withLock { $0.append(Line(level: event.level, text: "\(event.message) \(all)")) }
        }
    }

    private let kept = Mutex<[Line]>([])

    package init() {}

    package var lines: [Line] { kept.withLock { $0 } }
    package var text: String { lines.map(\.text).joined(separator: "\n") }

    package var logger: Logger {
        Logger(label: "test") { _ in Handler(recorder: self) }
    }
}
