import Testing

/// Polls `condition` every few milliseconds until it holds and returns the time that took; only for changes that the
/// test cannot await.
@discardableResult
func eventually(
    _ what: Comment, within limit: Duration = .seconds(20), sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws -> Duration {
    let clock = ContinuousClock()
    let start = clock.now
    while try await !condition() {
        try #require(clock.now - start < limit, what, sourceLocation: sourceLocation)
        try await clock.sleep(for: .milliseconds(5))
    }
    return clock.now - start
}

extension Duration {
    var milliseconds: Int { Int(self / .milliseconds(1)) }
}
