/// Limits how often something is asked for, over all replicas together.
package protocol RateLimiting: Sendable {
    /// Takes one of those that the subject has left; known and unknown subjects alike.
    ///
    /// The subject is what the limit goes by: a client's network, or a target in its normalised form.
    /// - Throws: `AccountsError.rateLimited`; also whatever keeps it from being counted, and then nothing is allowed.
    func spend(_ limit: RateLimit, of subject: String, in application: Application) async throws
}

extension RateLimiting {
    /// Goes by the address behind trusted proxies, with IPv6 by what one subscriber has.
    package func spend(_ limit: RateLimit, of client: Client, in application: Application) async throws {
        try await spend(limit, of: client.network, in: application)
    }
}

/// What is counted together; a changed rate counts anew.
package struct RateKey: Sendable, Hashable {
    package let application: Int32
    package let limit: RateLimit
    package let rate: Rate
    /// A pseudonym, so that no address is kept.
    package let subject: [UInt8]

    package init(application: Int32, limit: RateLimit, rate: Rate, subject: [UInt8]) {
        self.application = application
        self.limit = limit
        self.rate = rate
        self.subject = subject
    }
}

/// Where limits are counted for all replicas, by one clock.
package protocol RateCounter: Sendable {
    /// Takes one, where the key's rate still allows it, as one step that no other can come between.
    ///
    /// - Returns: `nil` when it was taken, else after how long one will be there.
    func take(_ key: RateKey) async throws -> Duration?
}
