package import Foundation
package import ProviderKit

/// Provider tokens to be revoked that a worker has taken from the queue.
package struct TakenRevocation: QueueEntry {
    package enum Lane: Sendable { case all }

    package let id: UUID
    package let application: Application.ID
    package let applicationName, provider: String
    package let tokens: ProviderTokens
    package let createdAt: Date
    package let attempts: Int

    package init(
        id: UUID, application: Application.ID, applicationName: String, provider: String, tokens: ProviderTokens,
        createdAt: Date, attempts: Int
    ) {
        (self.id, self.application, self.applicationName) = (id, application, applicationName)
        (self.provider, self.tokens, self.createdAt, self.attempts) = (provider, tokens, createdAt, attempts)
    }

    package var lane: Lane { .all }
}

/// The queue of provider tokens to revoke; abandoned ones are deleted too.
package typealias RevocationQueue = LeasedQueue<TakenRevocation>

package protocol RevokingProviders: Sendable {
    func provider(named name: String, application: Application.ID) -> (any RevokingProvider)?
}
