internal import Synchronization

/// Reports whether a client is still connected.
///
/// Work for a disconnected client is not started, but work that has started is finished. A disconnect therefore does
/// not cancel the request's task: cancellation would roll back changes and leave failed attempts uncounted.
package final class ClientConnection: Sendable, Equatable {
    private struct State {
        var isClosed = false
        var lastID = 0
        var handlers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    package init() {}
    package var isClosed: Bool { state.withLock(\.isClosed) }

    package func close() {
        let handlers = state.withLock { state in
            state.isClosed = true
            defer { state.handlers = [:] }
            return state.handlers.values
        }
        for handler in handlers { handler() }
    }

    /// Calls the handler when the client disconnects during the body, or at once if it has disconnected.
    package func withCloseHandler<Output>(
        isolation: isolated (any Actor)? = #isolation, onClose handler: @escaping @Sendable () -> Void,
        _ body: () async throws -> Output
    ) async rethrows -> Output {
        let id: Int? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.lastID += 1
            state.handlers[state.lastID] = handler
            return state.lastID
        }
        guard let id else {
            handler()
            return try await body()
        }
        defer { state.withLock { $0.handlers[id] = nil } }
        return try await body()
    }

    package static func == (one: ClientConnection, other: ClientConnection) -> Bool { one === other }
}
