internal import Synchronization

/// Reads by key that wait at the same moment, answered by one statement.
///
/// A statement is on its way at a time; whoever asks meanwhile shares the next one. So nobody waits for company where
/// there is none, the more ask the less each costs, and everybody is answered from after they asked.
final class JoinedReads<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Reading = Task<[Key: Value], any Error>

    private struct State {
        /// Of the reading that has not begun.
        var keys: Set<Key> = []
        var next: Reading?
        var latest: Reading?
    }

    private let fetch: @Sendable (_ keys: [Key]) async throws -> [Key: Value]
    private let state = Mutex(State())

    init(fetch: @escaping @Sendable (_ keys: [Key]) async throws -> [Key: Value]) {
        self.fetch = fetch
    }

    /// How many keys the next statement is for.
    var waiting: Int { state.withLock { $0.keys.count } }

    /// Nothing where there is no such row.
    func value(of key: Key) async throws -> Value? {
        try await reading(of: key).value[key]
    }

    /// A task of nobody's own: one caller who leaves takes nothing from the others.
    private func reading(of key: Key) -> Reading {
        state.withLock { state in
            state.keys.insert(key)
            if let next = state.next { return next }
            let latest = state.latest
            let next = Reading {
                _ = await latest?.result
                return try await self.fetch(self.begin())
            }
            state.next = next
            return next
        }
    }

    /// Who asks from here on is answered by the reading after.
    private func begin() -> [Key] {
        state.withLock { state in
            defer { state.keys = [] }
            state.latest = state.next
            state.next = nil
            return Array(state.keys)
        }
    }
}
