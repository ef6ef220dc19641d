/// The rate limits, by their names in the configuration.
///
/// A limit per client also limits the client's network, a /24 or /48, at sixteen times the rate.
package enum RateLimit: String, Sendable, CaseIterable {
    /// Calls that check a password.
    case login
    case refresh, apple, logout, forgotPassword, register, anonymous
    /// Calls that send a code, per client.
    case otpClient
    /// Sent codes, per recipient.
    case otpSend
    /// Sent links that set a password, per recipient.
    case forgotPasswordTarget
    /// Sent links that confirm a registration or a new address, per recipient.
    case registerTarget
    /// Calls that start a redirect flow, each of which inserts a row.
    case redirect
    case export
    /// Authorization requests and sign-outs of OpenID clients, as browsers bring them.
    case authorize
    /// Calls of OpenID clients that are public or have registered themselves, and calls whose client could not be
    /// authenticated or whose grant was refused.
    case token
    /// Registrations of clients, and of installations of apps.
    case clientRegistration
    /// Requests of devices without a keyboard.
    case device
    /// Codes of such devices that are typed.
    case userCode
    /// QR codes that are made, and answers to them.
    case qr
    /// Calls of the admin API, per client; high enough for the limit of a key to be reached.
    case adminClient
    /// Calls of the admin API, per service key.
    case adminKey
    /// Searches for accounts, reveals of their fields, and exports, per administrator.
    case adminSearch, adminReveal, adminExport
    /// Lifted locks, per person or client whose locks are lifted.
    case adminLift
    /// Other calls that write or need no bearer token, per route.
    case general
}

package struct RatePolicy: Sendable, Equatable {
    private var rates: [RateLimit: Rate]

    package init(_ rates: [RateLimit: Rate]) { self.rates = rates }

    /// No limits.
    package static let off = Self([:])

    /// The rate of a limit; `nil` if calls are not limited.
    package subscript(limit: RateLimit) -> Rate? {
        get { rates[limit] }
        set { rates[limit] = newValue }
    }
}
