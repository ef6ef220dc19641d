internal import Foundation
internal import ProviderKit

/// What is known of the keys at one URL, and when they may be fetched.
///
/// A value without a clock, so that its decisions can be tested one by one.
struct PublishedKeySource {
    enum Step {
        /// These keys count; `fetching` says that the caller has to order a fetch, which nobody waits for.
        case use(UpstreamKeySet, fetching: Bool)
        /// A fetch will tell; `fetching` says that the caller has to order it.
        case wait(fetching: Bool)
        /// Nothing that is known, or that may be asked now, has a key for the token.
        case refuse
        /// The source doesn't answer.
        case fail
    }

    /// How long keys are used after they went stale, while the source is down.
    private static let grace: TimeInterval = 86400
    /// How long a source that failed is left alone.
    private static let pause: TimeInterval = 5

    private let coolDown: TimeInterval
    private var keys: UpstreamKeySet?
    private(set) var freshUntil = Date.distantPast
    private(set) var isFetching = false
    private var fetchBegan = Date.distantPast
    /// When a token with an unknown key last led to a fetch.
    private var lastForced = Date.distantPast
    private var lastFailed: Date?

    init(coolDown: TimeInterval) {
        self.coolDown = coolDown
    }

    /// What a token leads to; `isFound` looks for its key in a set.
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

    /// Takes over what a fetch brought.
    ///
    /// `nil` is a failure, after which the keys that were there go on being used.
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

    /// The fetch that a token waited for had no key for it, so that it counts as that token's own.
    mutating func missed() {
        lastForced = max(lastForced, fetchBegan)
    }

    private mutating func begin(at now: Date) -> Bool {
        guard !isFetching else { return false }
        isFetching = true
        fetchBegan = now
        return true
    }

    /// A clock that was set back ends every wait.
    private static func isWithin(_ span: TimeInterval, after start: Date, _ now: Date) -> Bool {
        start <= now && now < start.addingTimeInterval(span)
    }
}
