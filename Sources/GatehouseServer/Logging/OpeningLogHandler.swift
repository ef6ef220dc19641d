package import Logging
internal import Synchronization

/// Whether what is under way has got so far that it may be talked about.
package final class LogGate: Sendable {
    private let state = Atomic(false)

    package init() {}

    package var isOpen: Bool { state.load(ordering: .relaxed) }

    package func open() {
        state.store(true, ordering: .relaxed)
    }
}

/// Passes nothing on before its gate is open: what keeps a command from starting is told once, by its error.
package struct OpeningLogHandler: LogHandler {
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
