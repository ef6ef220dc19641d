internal import Foundation
internal import ProviderKit

/// The keys that were fetched from one URL, and the rules for fetching them again, with the clock as a parameter.
struct PublishedKeySource {
    enum Step {
        /// Use these keys; if `fetching`, also start a fetch in the background to refresh them.
        case use(UpstreamKeySet, fetching: Bool)
        /// Wait for a fetch to end; if `fetching`, start it first.
        case wait(fetching: Bool)
        /// Refuse the token: none of the keys fits it, and it is too early to fetch again.
        case refuse
        /// Report an outage, because the last fetch failed.
        case fail
    }

    /// How long expired keys are still used while fetches fail.
    private static let grace: TimeInterval = 86400
    /// The minimum time between a failed fetch and the next one.
    static let pause: TimeInterval = 2

    private let coolDown: TimeInterval
    private(set) var keys: UpstreamKeySet?
    private(set) var freshUntil = Date.distantPast
    private(set) var isFetching = false
    private var fetchBegan = Date.distantPast
    /// When a token with an unknown key last caused a fetch; `coolDown` limits how often that happens.
    private var lastForced = Date.distantPast
    private var lastFailed: Date?

    init(coolDown: TimeInterval) { self.coolDown = coolDown }

    /// Decides how to get the key for a token; `isFound` returns whether a set contains that key.
    mutating func step(at now: Date, isFound: (UpstreamKeySet) -> Bool) -> Step {
        let isPaused = isPaused(at: now)
        guard let keys, now < freshUntil.addingTimeInterval(Self.grace) else {
            return isPaused && !isFetching ? .fail : .wait(fetching: begin(at: now))
        }
        guard !isFound(keys) else { return .use(keys, fetching: now >= freshUntil && !isPaused && begin(at: now)) }
        guard !isFetching else { return .wait(fetching: false) }
        guard !isPaused, !Self.isWithin(coolDown, after: lastForced, now) else {
            return lastFailed == nil ? .refuse : .fail
        }
        lastForced = now
        return .wait(fetching: begin(at: now))
    }

    /// Stores the result of a fetch; after a failure (`nil`) the previous keys stay in use.
    mutating func finish(_ fetched: (keys: UpstreamKeySet, lifetime: TimeInterval)?, at now: Date) {
        isFetching = false
        guard let fetched else {
            lastFailed = now
            return
        }
        lastFailed = nil
        keys = fetched.keys
        freshUntil = now.addingTimeInterval(fetched.lifetime)
    }

    /// Applies `coolDown` to the last fetch, because it did not return the key of a waiting token.
    mutating func missed() { lastForced = max(lastForced, fetchBegan) }

    var hasKeys: Bool { keys != nil }

    /// Forgets the keys, but not when they were fetched, so that they are not fetched again at once.
    mutating func forget() {
        keys = nil
        freshUntil = .distantPast
        lastFailed = max(lastFailed ?? .distantPast, fetchBegan)
    }

    /// Whether a new source would act in the same way from now on.
    func isSpent(at now: Date) -> Bool {
        keys == nil && !isFetching && !isPaused(at: now) && !Self.isWithin(coolDown, after: lastForced, now)
    }

    private func isPaused(at now: Date) -> Bool {
        lastFailed.map { Self.isWithin(Self.pause, after: $0, now) } ?? false
    }

    private mutating func begin(at now: Date) -> Bool {
        guard !isFetching else { return false }
        isFetching = true
        fetchBegan = now
        return true
    }

    /// Whether `now` is less than `span` after `start`; `false` if the clock was set back before `start`.
    static func isWithin(_ span: TimeInterval, after start: Date, _ now: Date) -> Bool {
        start <= now && now < start.addingTimeInterval(span)
    }
}
