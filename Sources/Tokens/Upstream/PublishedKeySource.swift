internal import Foundation
internal import ProviderKit

/// The keys that were fetched from one URL, and the rules for fetching them again.
///
/// The clock is a parameter, so that each decision can be tested by itself.
struct PublishedKeySource {
    enum Step {
        /// Use these keys; if `fetching`, also start a fetch in the background.
        case use(UpstreamKeySet, fetching: Bool)
        /// Wait for a fetch; if `fetching`, start it.
        case wait(fetching: Bool)
        /// No key fits the token, and it is too early to fetch again.
        case refuse
        /// The source does not answer.
        case fail
    }

    /// How long stale keys are used while the source is down.
    private static let grace: TimeInterval = 86400
    /// The minimum time between a failed fetch and the next one.
    private static let pause: TimeInterval = 2

    private let coolDown: TimeInterval
    private var keys: UpstreamKeySet?
    private(set) var freshUntil = Date.distantPast
    private(set) var isFetching = false
    private var fetchBegan = Date.distantPast
    /// When a token with an unknown key last caused a fetch.
    private var lastForced = Date.distantPast
    private var lastFailed: Date?

    init(coolDown: TimeInterval) {
        self.coolDown = coolDown
    }

    /// The next step for a token; `isFound` looks for its key in a set.
    mutating func step(at now: Date, isFound: (UpstreamKeySet) -> Bool) -> Step {
        let isPaused = lastFailed.map { Self.isWithin(Self.pause, after: $0, now) } ?? false
        guard let keys, now < freshUntil.addingTimeInterval(Self.grace) else {
            return isPaused && !isFetching ? .fail : .wait(fetching: begin(at: now))
        }
        guard !isFound(keys) else {
            return .use(keys, fetching: now >= freshUntil && !isPaused && begin(at: now))
        }
        guard !isFetching else { return .wait(fetching: false) }
        guard !isPaused, !Self.isWithin(coolDown, after: lastForced, now) else {
            return lastFailed == nil ? .refuse : .fail
        }
        lastForced = now
        return .wait(fetching: begin(at: now))
    }

    /// Stores the result of a fetch; after a failure (`nil`) the old keys stay in use.
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

    /// Counts the last fetch as caused by a token with an unknown key, because it brought no key for a waiting token.
    mutating func missed() {
        lastForced = max(lastForced, fetchBegan)
    }

    private mutating func begin(at now: Date) -> Bool {
        guard !isFetching else { return false }
        isFetching = true
        fetchBegan = now
        return true
    }

    /// Also `false` if the clock was set back.
    private static func isWithin(_ span: TimeInterval, after start: Date, _ now: Date) -> Bool {
        start <= now && now < start.addingTimeInterval(span)
    }
}
