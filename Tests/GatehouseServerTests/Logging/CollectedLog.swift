import GatehouseServer
import Logging
import Synchronization

/// Collects log lines for a test, with their level, message and metadata values.
final class CollectedLog: Sendable {
    private let collected = Mutex([String]())

    var lines: [String] { collected.withLock { $0 } }

    var logger: Logger {
        Logger(label: "test") { _ in Handler(log: self) }
    }

    private struct Handler: LogHandler {
        let log: CollectedLog
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let values = (event.metadata ?? [:]).values.map { value in
                if case .array(let items) = value {
                    items.map(\.description).joined(separator: " ")
                } else {
                    "\(value)"
                }
            }
            log.collected.withLock {
                $0.append(([event.level.rawValue, "\(event.message)"] + values).joined(separator: " "))
            }
        }
    }
}

/// Collects the output of a log handler.
final class CollectedOutput: LogOutput {
    private let collected = Mutex([String]())

    var lines: [String] { collected.withLock { $0 } }

    func write(_ line: String) {
        collected.withLock { $0.append(line) }
    }
}
