internal import Synchronization

/// Whether a client still waits for its answer.
///
/// Work that nobody waits for any longer is not begun; what was begun is finished, so that hanging up undoes nothing
/// and leaves no failure uncounted. That is why a client who leaves is no cancelled task.
package final class Presence: Sendable, Equatable {
    private struct State {
        var hasLeft = false
        var lastID = 0
        var handlers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    package var hasLeft: Bool { state.withLock(\.hasLeft) }

    /// For good.
    package func leave() {
        let handlers = state.withLock { state in
            state.hasLeft = true
            defer { state.handlers = [:] }
            return state.handlers.values
        }
        for handler in handlers { handler() }
    }

    /// Calls the handler when the client leaves during the body; at once where it has left already.
    package func watched<Result>(
        isolation: isolated (any Actor)? = #isolation, onLeave handler: @escaping @Sendable () -> Void,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        let id: Int? = state.withLock { state in
            guard !state.hasLeft else { return nil }
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

    package static func == (one: Presence, other: Presence) -> Bool { one === other }
}
