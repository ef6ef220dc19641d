/// Decides when a refresh is sent again after failures.
struct RefreshRetry {
    /// The pause after the first failure, and the longest pause, even if the server asks for a longer one.
    private static let (shortest, longest) = (Duration.seconds(5), Duration.seconds(300))

    private var pause = shortest
    /// Before this time, no refresh is sent in advance; a call that needs a token still sends one.
    private var againAt: ContinuousClock.Instant?
    /// The end of the pause that the server asked for, and the failure that asked for it.
    private var blocked: (until: ContinuousClock.Instant, by: GatehouseError)?

    /// The failure that asked for a pause, while the pause lasts; until its end no refresh is sent.
    func block(at now: ContinuousClock.Instant) -> GatehouseError? {
        blocked.flatMap { now < $0.until ? $0.by : nil }
    }

    /// Whether a refresh may be sent in advance, before a call needs it.
    func admitsRenewalInAdvance(at now: ContinuousClock.Instant) -> Bool {
        block(at: now) == nil && againAt.map { now >= $0 } ?? true
    }

    /// Records a failure.
    /// - Returns: The pause before the next refresh in advance; it doubles with each failure.
    mutating func fail(with error: GatehouseError, at now: ContinuousClock.Instant) -> Duration {
        let asked = min(error.retryAfter ?? .zero, Self.longest)
        if asked > .zero { blocked = (now + asked, error) }
        let wait = max(asked, pause)
        againAt = now + wait
        pause = min(pause * 2, Self.longest)
        return wait
    }
}
