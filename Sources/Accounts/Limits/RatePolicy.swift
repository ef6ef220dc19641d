/// What is limited, mostly as the configuration names it; calls of one name share their limit.
package enum RateLimit: String, Sendable, CaseIterable {
    /// Every call that checks a password.
    case login
    case refresh, apple, logout
    /// By client: counted by target, anybody could keep a person from ever getting a link.
    case forgotPassword
    /// By address or number that is sent to.
    case otpSend
    case register, anonymous
    /// Setting out for a provider's pages, of which each leaves a row behind.
    case redirect
    /// Reading everything that is held about somebody.
    case export
}

/// The rates in force.
package struct RatePolicy: Sendable, Equatable {
    private var rates: [RateLimit: Rate]

    package init(_ rates: [RateLimit: Rate]) {
        self.rates = rates
    }

    /// No limits.
    package static let off = Self([:])

    /// `nil` for what is not limited.
    package subscript(limit: RateLimit) -> Rate? {
        get { rates[limit] }
        set { rates[limit] = newValue }
    }
}
