internal import Synchronization

/// Whether a client still waits for its answer.
///
/// Work that nobody waits for any longer is not begun; what was begun is finished, so that hanging up undoes nothing
/// and leaves no failure uncounted. That is why a client who leaves is no cancelled task.
package final class ClientConnection: Sendable, Equatable {
    private struct State {
        var isClosed = false
        var lastID = 0
        var handlers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package var isClosed: Bool { state.withLock(\.isClosed) }

    /// For good.
    package func close() {
        let handlers = state.withLock { state in
            state.isClosed = true
            defer { state.handlers = [:] }
            return state.handlers.values
        }
        for handler in handlers { handler() }
    }

    /// Calls the handler when the client leaves during the body; at once where it has left already.
    package func withCloseHandler<Result>(
        isolation: isolated (any Actor)? = #isolation, onClose handler: @escaping @Sendable () -> Void,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
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
