package import Foundation
package import ProviderKit

/// Tokens of an upstream service that are to be revoked there, taken by a worker.
package struct TakenRevocation: QueueEntry {
    package enum Lane: Sendable {
        case all
    }

    package let id: UUID
    package let application: Application.ID
    package let applicationName: String
    /// The provider's configured name.
    package let provider: String
    package let tokens: ProviderTokens
    package let createdAt: Date
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

    package var lane: Lane { .all }
}

/// The workers' side of tokens to revoke.
///
/// Tokens that are given up are deleted too.
package typealias RevocationQueue = LeasedQueue<TakenRevocation>

/// The configured providers that can revoke tokens.
package protocol RevokingProviders: Sendable {
    func provider(named name: String, application: Application.ID) -> (any RevokingProvider)?
}
