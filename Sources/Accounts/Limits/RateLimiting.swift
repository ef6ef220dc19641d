/// Limits the rate of calls.
package protocol RateLimiting: Sendable {
    /// Counts a call of the subject, for all replicas together.
    /// - Throws: `AccountsError.rateLimited`, or the counter's error; either way the call is not allowed.
    func spend(_ limit: RateLimit, of subject: RateSubject, in application: Application) async throws

    /// Counts a call of the subject at this replica only, without the database.
    /// - Throws: `AccountsError.rateLimited`.
    func spendHere(_ limit: RateLimit, of subject: RateSubject, in application: Application) throws
}

/// Whose calls a limit counts.
package struct RateSubject: Sendable, Equatable {
    package let name: String
    /// The wider network that the subject is a part of, if it is a client.
    package let block: String?

    /// An address or number in its normalised form.
    package init(target: String) {
        name = target
        block = nil
    }

    /// The client's address or IPv6 /64, in its /24 or /48; with a route, only its calls of that route.
    package init(_ client: Client, route: String? = nil) {
        let prefix = route.map { "\($0) " } ?? ""
        name = prefix + client.network
        block = client.block == client.network ? nil : prefix + client.block
    }
}

/// What is counted together.
///
/// A changed rate starts a new count.
package struct RateKey: Sendable, Hashable {
    package let application: Application.ID
    package let limit: RateLimit
    package let rate: Rate
    /// A pseudonym, so that no address is kept.
    package let subject: [UInt8]
}

/// A key without calls left.
package struct RateRefusal: Sendable, Equatable {
    package let key: RateKey
    /// The time until the key has a call left.
    package let wait: Duration

    package init(key: RateKey, wait: Duration) {
        self.key = key
        self.wait = wait
    }
}

/// Counts calls for all replicas, by one clock.
package protocol RateCounter: Sendable {
    /// Counts a call of the key and of its block atomically, or of neither.
    ///
    /// - Returns: `nil` when both had a call left.
    func take(_ key: RateKey, in block: RateKey?) async throws -> RateRefusal?
}
