/// Limits how often something is asked for.
package protocol RateLimiting: Sendable {
    /// Takes one of those that the subject has left, counted for all replicas together.
    /// - Throws: `AccountsError.rateLimited`; also the counter's error, and then the call is not allowed.
    func spend(_ limit: RateLimit, of subject: RateSubject, in application: Application) async throws

    /// Takes one of those that the subject has left at this replica, without the database.
    /// - Throws: `AccountsError.rateLimited`.
    func spendHere(_ limit: RateLimit, of subject: RateSubject, in application: Application) throws
}

/// What a limit counts by.
package struct RateSubject: Sendable, Equatable {
    package let name: String
    /// The wider network that the subject is part of, if it is one.
    package let block: String?

    /// An address or number in its normalised form.
    package init(target: String) {
        name = target
        block = nil
    }

    /// The client's address or IPv6 /64, in its /24 or /48; with a route, its calls of that route alone.
    package init(_ client: Client, route: String? = nil) {
        let prefix = route.map { "\($0) " } ?? ""
        name = prefix + client.network
        block = client.block == client.network ? nil : prefix + client.block
    }
}

/// What is counted together; a changed rate starts a new count.
package struct RateKey: Sendable, Hashable {
    package let application: Application.ID
    package let limit: RateLimit
    package let rate: Rate
    /// A pseudonym, so that no address is kept.
    package let subject: [UInt8]

    package init(application: Application.ID, limit: RateLimit, rate: Rate, subject: [UInt8]) {
        self.application = application
        self.limit = limit
        self.rate = rate
        self.subject = subject
    }
}

/// A key that has none left.
package struct RateRefusal: Sendable, Equatable {
    package let key: RateKey
    /// After how long the key has one again.
    package let wait: Duration

    package init(key: RateKey, wait: Duration) {
        self.key = key
        self.wait = wait
    }
}

/// Where limits are counted for all replicas, by one clock.
package protocol RateCounter: Sendable {
    /// Takes one from the key and one from its block, in one atomic step; a key that has none left takes none from its
    /// block.
    ///
    /// - Returns: `nil` when both had one left.
    func take(_ key: RateKey, in block: RateKey?) async throws -> RateRefusal?
}
