package import Logging
internal import Synchronization

/// A switch for `GatedLogHandler`, closed at first.
package final class LogGate: Sendable {
    private let state = Atomic(false)

    package init() {}
    package var isOpen: Bool { state.load(ordering: .relaxed) }
    package func open() { state.store(true, ordering: .relaxed) }
}

/// Drops log events until its gate is open.
///
/// So if a command can't start, it prints only its error message.
package struct GatedLogHandler: LogHandler {
    private var handler: any LogHandler
    private let gate: LogGate

    package init(_ logger: Logger, behind gate: LogGate) {
        handler = logger.handler
        self.gate = gate
    }

    package var logLevel: Logger.Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }

    package var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    package var metadataProvider: Logger.MetadataProvider? {
        get { handler.metadataProvider }
        set { handler.metadataProvider = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    package func log(event: LogEvent) {
        if gate.isOpen { handler.log(event: event) }
    }
}
