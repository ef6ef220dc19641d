package import Foundation
package import ProviderKit

/// Tokens of a service that are to be given back, taken by a worker for a while.
package struct TakenRevocation: Sendable {
    package let id: UUID
    package let application: Application.ID
    package let applicationName: String
    /// The provider's configured name.
    package let provider: String
    package let tokens: ProviderTokens
    /// When they were taken out of use.
    package let createdAt: Date
    /// How often it was tried before.
    package let attempts: Int

    package init(
        id: UUID, application: Application.ID, applicationName: String, provider: String, tokens: ProviderTokens,
        createdAt: Date, attempts: Int
    ) {
        self.id = id
        self.application = application
        self.applicationName = applicationName
        self.provider = provider
        self.tokens = tokens
        self.createdAt = createdAt
        self.attempts = attempts
    }
}

/// The workers' side of tokens that are to be given back; any replica's worker may take any of them.
package protocol RevocationQueue: Sendable {
    /// Hidden from other workers for `lease`.
    func take(atMost count: Int, lease: Duration) async throws -> [TakenRevocation]
    /// Given back: the tokens are forgotten.
    func markRevoked(_ id: UUID, of application: Application.ID) async throws
    /// Tries again after `delay`; without one it gives up visibly, and the tokens are forgotten too.
    func markFailed(_ id: UUID, of application: Application.ID, reason: String, retryAfter delay: Duration?)
        async throws
    /// An element whenever there may be some; a hint, not a promise.
    var arrivals: AsyncStream<Void> { get }
}

/// The providers that give tokens back, by the configuration in force.
package protocol RevokingProviders: Sendable {
    func provider(named name: String, application: Application.ID) -> (any RevokingProvider)?
}
