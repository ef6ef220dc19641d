internal import Foundation
internal import ProviderKit
internal import Synchronization

/// Fetches the keys that other issuers publish, and caches them.
///
/// A task of this object does all fetches, one at a time for each URL, which cancelled requests do not affect.
final class UpstreamKeyCache: Sendable {
    private typealias Waiter = CheckedContinuation<Answer, Never>

    private enum Answer {
        case keys(UpstreamKeySet)
        case refused, unavailable
    }

    private struct Entry {
        var source: PublishedKeySource
        var waiters: [UInt64: (token: UpstreamToken, waiter: Waiter)] = [:]
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var lastID: UInt64 = 0
        /// When URLs that need not be remembered were last removed.
        var cleared = Date.distantPast
    }

    /// The largest number of URLs whose keys are cached, which is far more than one provider has.
    private static let capacity = 64
    /// The largest number of URLs with a fetch that is not long ago.
    ///
    /// They stay when their keys are displaced, so that callers cannot cause more fetches by using many URLs in turn.
    private static let memory = 4096

    private let now: @Sendable () -> Date
    private let coolDown: TimeInterval
    private let state = Mutex(State())
    private let orders: AsyncStream<String>.Continuation

    init(http: any HTTPFetching, now: @escaping @Sendable () -> Date, coolDown: Duration) {
        self.now = now
        self.coolDown = coolDown.inSeconds
        let (urls, orders) = AsyncStream.makeStream(of: String.self)
        self.orders = orders
        // The task must not belong to the request or reload that creates this object, and ends with the object.
        Task.detached { [weak self] in
            await withDiscardingTaskGroup { group in
                for await url in urls {
                    group.addTask {
                        let fetched = await Self.fetch(url, by: http)
                        self?.finish(url, with: fetched)
                    }
                }
            }
        }
    }

    deinit { orders.finish() }

    /// Returns the published key that fits a token.
    /// - Throws: `ProviderError.refused` if there is none; `ProviderError.unavailable` if the source does not answer.
    func key(for token: UpstreamToken, at url: String) async throws -> UpstreamKey {
        switch await answer(for: token, at: url) {
        case .keys(let keys):
            guard let key = keys.key(for: token) else { throw ProviderError.refused }
            return key
        case .refused: throw ProviderError.refused
        case .unavailable: throw ProviderError.unavailable
        }
    }

    /// The key that fits a token among those that were fetched last; never starts a fetch.
    func knownKey(for token: UpstreamToken, at url: String) -> UpstreamKey? {
        state.withLock { $0.entries[url]?.source.keys }?.key(for: token)
    }

    private func answer(for token: UpstreamToken, at url: String) async -> Answer {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                if let answer = step(for: token, at: url, waiter, id) { waiter.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.entries[url]?.waiters.removeValue(forKey: id) }?.waiter.resume(returning: .unavailable)
        }
    }

    /// The answer if it is known at once; `nil` if a fetch will resume the waiter.
    private func step(for token: UpstreamToken, at url: String, _ waiter: Waiter, _ id: UInt64) -> Answer? {
        let now = now()
        return state.withLock { state in
            guard state.entries[url] != nil || hasRoom(in: &state, at: now) else { return .unavailable }
            var entry = state.entries[url] ?? Entry(source: PublishedKeySource(coolDown: coolDown))
            defer { state.entries[url] = entry }
            switch entry.source.step(at: now, isFound: { $0.key(for: token) != nil }) {
            case .use(let keys, let isFetching):
                if isFetching { orders.yield(url) }
                return .keys(keys)
            case .wait(let isFetching):
                if isFetching { orders.yield(url) }
                // The cancellation handler has already run.
                guard !Task.isCancelled else { return .unavailable }
                entry.waiters[id] = (token, waiter)
                return nil
            case .refuse: return .refused
            case .fail: return .unavailable
            }
        }
    }

    /// Whether a URL may be added, after those that need not be remembered any more are gone.
    private func hasRoom(in state: inout State, at now: Date) -> Bool {
        guard state.entries.count >= Self.memory else { return true }
        guard !PublishedKeySource.isWithin(PublishedKeySource.pause, after: state.cleared, now) else { return false }
        state.cleared = now
        state.entries = state.entries.filter { !$0.value.source.isSpent(at: now) }
        return state.entries.count < Self.memory
    }

    /// Forgets the oldest keys of other URLs if there are too many.
    private func displace(in state: inout State, besides url: String) {
        guard state.entries.count > Self.capacity else { return }
        let cached = state.entries.filter { $0.value.source.hasKeys }
        guard cached.count > Self.capacity else { return }
        let idle = cached.filter { !$0.value.source.isFetching && $0.key != url }
        guard let oldest = idle.min(by: { $0.value.source.freshUntil < $1.value.source.freshUntil }) else { return }
        state.entries[oldest.key]?.source.forget()
    }

    private func finish(_ url: String, with fetched: (keys: UpstreamKeySet, lifetime: TimeInterval)?) {
        let now = now()
        let waiters: [Waiter] = state.withLock { state in
            guard var entry = state.entries[url] else { return [] }
            entry.source.finish(fetched, at: now)
            // Done under the same lock as `finish`, so that a token that arrives now does not cause another fetch.
            if let keys = fetched?.keys, entry.waiters.values.contains(where: { keys.key(for: $0.token) == nil }) {
                entry.source.missed()
            }
            defer {
                entry.waiters = [:]
                state.entries[url] = entry
                displace(in: &state, besides: url)
            }
            return entry.waiters.values.map(\.waiter)
        }
        for waiter in waiters { waiter.resume(returning: fetched.map { .keys($0.keys) } ?? .unavailable) }
    }

    private static func fetch(
        _ url: String, by http: any HTTPFetching
    ) async -> (keys: UpstreamKeySet, lifetime: TimeInterval)? {
        guard let response = try? await http.fetch(.get(url)), response.status == 200,
            let keys = UpstreamKeySet(published: response.body)
        else { return nil }
        // The lower bound prevents a fetch for each token; the upper bound limits how long removed keys stay in use.
        return (keys, response.lifetime(in: 300...86_400, standard: 3600).inSeconds)
    }
}
