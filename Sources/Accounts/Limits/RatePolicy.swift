/// The limits, by the names that the configuration uses.
///
/// A limit by client also limits the client's network, at sixteen times the rate.
package enum RateLimit: String, Sendable, CaseIterable {
    /// Every call that checks a password.
    case login
    case refresh, apple, logout
    case forgotPassword
    case register, anonymous
    /// Every call that sends a code, by client.
    case otpClient
    /// Codes, by the address or number that they are sent to.
    case otpSend
    /// Links that set a password, by the address that they are sent to.
    case forgotPasswordTarget
    /// Links that confirm a registration or a new address, by the address that they are sent to.
    case registerTarget
    /// Starting a flow at a provider's pages, which leaves a row behind.
    case redirect
    /// Reading everything that is held about an account.
    case export
    /// Every other call that writes or needs no bearer, each route on its own.
    case general
}

/// The configured rates.
package struct RatePolicy: Sendable, Equatable {
    private var rates: [RateLimit: Rate]

    package init(_ rates: [RateLimit: Rate]) {
        self.rates = rates
    }

    /// No limits.
    package static let off = Self([:])

    /// `nil` for no limit.
    package subscript(limit: RateLimit) -> Rate? {
        get { rates[limit] }
        set { rates[limit] = newValue }
    }
}
