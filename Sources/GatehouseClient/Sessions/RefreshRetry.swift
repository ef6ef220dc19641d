/// When a refresh is sent again after failures.
struct RefreshRetry {
    /// The pause after a first failure, and the longest pause, also if the server asks for a longer one.
    private static let (shortest, longest) = (Duration.seconds(5), Duration.seconds(300))

    private var pause = shortest
    /// Before this, no refresh is sent that no call waits for.
    private var againAt: ContinuousClock.Instant?
    /// Until when the server asked for a pause, and the failure that said so.
    private var blocked: (until: ContinuousClock.Instant, by: GatehouseError)?

    /// The failure that asked for a pause which has not ended; until then no refresh is sent.
    func block(at now: ContinuousClock.Instant) -> GatehouseError? {
        blocked.flatMap { now < $0.until ? $0.by : nil }
    }

    /// Whether a refresh is sent that no call waits for.
    func admitsRenewalInAdvance(at now: ContinuousClock.Instant) -> Bool {
        block(at: now) == nil && againAt.map { now >= $0 } ?? true
    }

    /// Notes a failure.
    /// - Returns: The pause before the next refresh that no call waits for; it doubles with each failure.
    mutating func fail(with error: GatehouseError, at now: ContinuousClock.Instant) -> Duration {
        let asked = min(error.retryAfter ?? .zero, Self.longest)
        if asked > .zero { blocked = (now + asked, error) }
        let wait = max(asked, pause)
        againAt = now + wait
        pause = min(pause * 2, Self.longest)
        return wait
    }
}
