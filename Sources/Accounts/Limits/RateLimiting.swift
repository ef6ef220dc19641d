package protocol RateLimiting: Sendable {
    /// Counts a call of the subject across all replicas.
    /// - Throws: `AccountsError.rateLimited`, or the counter's error; in both cases the call is not allowed.
    func spend(_ limit: RateLimit, of subject: RateSubject, in application: Application) async throws

    /// Counts a call of the subject at this replica only, without the database.
    /// - Throws: `AccountsError.rateLimited`.
    func spendHere(_ limit: RateLimit, of subject: RateSubject, in application: Application) throws

    /// Counts nothing, and refuses a call of a subject that this replica knows to have no calls left.
    /// - Throws: `AccountsError.rateLimited`.
    func check(_ limit: RateLimit, of subject: RateSubject, in application: Application) throws
}

/// Rate limits whose counters an administrator may look at and remove.
package protocol LiftableLimits: RateLimiting {
    /// The keys under which the limits of these subjects are counted now, with those of their wider networks.
    func keys(of subjects: [(limit: RateLimit, subject: RateSubject)], in application: Application) -> [RateKey]

    /// Forgets which keys have no calls left, after counters were removed; the next call of each is counted again.
    func forgetRefusals()
}

/// The client or address whose calls a limit counts.
package struct RateSubject: Sendable {
    /// Returns the names of the subject and of the wider network that contains it, if the subject is a client.
    ///
    /// The names are computed only if a limit applies, because that takes longer than some of the limited calls.
    let names: @Sendable () -> (subject: String, block: String?)

    /// Creates the subject for a normalised e-mail address or phone number.
    package init(target: String) {
        names = { (target, nil) }
    }

    /// Creates the subject for a client's IPv4 address or IPv6 /64, and its /24 or /48 block, for all routes or one.
    package init(_ client: Client, route: String? = nil) {
        names = {
            let (prefix, network, block) = (route.map { "\($0) " } ?? "", client.network, client.block)
            return (prefix + network, block == network ? nil : prefix + block)
        }
    }
}

/// The key of a counter, which contains the rate, so that a changed rate starts a new count.
package struct RateKey: Sendable, Hashable {
    package let application: Application.ID
    package let limit: RateLimit
    package let rate: Rate
    /// The pseudonym of the subject, so that no address is stored.
    package let subject: [UInt8]
    /// Whether the subject is the network block of a client.
    package var isOfBlock = false
}

/// A key that has no calls left.
package struct RateRefusal: Sendable, Equatable {
    package let key: RateKey
    /// The time until a call of the key is allowed.
    package let wait: Duration

    package init(key: RateKey, wait: Duration) { (self.key, self.wait) = (key, wait) }
}

/// Counts calls across all replicas, by one clock.
package protocol RateCounter: Sendable {
    /// Counts a call of the key and, unless the key refuses it, of its block.
    ///
    /// A call that only the block refuses counts for the key.
    /// - Returns: `nil` if both had a call left.
    func take(_ key: RateKey, in block: RateKey?) async throws -> RateRefusal?
}
