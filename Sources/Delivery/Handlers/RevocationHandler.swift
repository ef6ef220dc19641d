package import Accounts
package import Foundation
package import Logging
internal import ProviderKit

/// Revokes tokens at the upstream services that issued them.
///
/// Revoking a token twice is harmless.
package struct RevocationHandler: QueueHandler {
    package static let settings = QueueSettings(
        concurrency: 4, attempt: .seconds(50), lease: .seconds(60), grace: .seconds(20), retry: .webhooks)

    package static let log = QueueLog(
        queue: "revocations", deliveredLevel: .info, delivered: "Tokens revoked",
        retried: "Tokens not revoked yet", givenUp: "Tokens given up: the service may still honour them",
        inDoubt: "Tokens may have been revoked",
        unrecorded: "The queue could not be updated after tokens were revoked; they will be revoked again",
        cancelled: "Shutdown leaves tokens to be revoked again")

    package let queue: any RevocationQueue
    private let providers: any RevokingProviders

    package init(queue: any RevocationQueue, providers: any RevokingProviders) {
        self.queue = queue
        self.providers = providers
    }

    package var lanes: [TakenRevocation.Lane] { [.all] }

    package func deliver(_ entry: TakenRevocation, at now: Date) async throws -> Bool {
        guard let provider = providers.provider(named: entry.provider, application: entry.application) else {
            throw DeliveryError.unknownProvider
        }
        do {
            try await provider.revoke(entry.tokens)
            return true
        } catch let error as CancellationError {
            throw error
        } catch {
            // No refusal counts as a permanent failure: settings may be wrong for a while, and an erasure waits for the
            // revocation.
            throw DeliveryError.notRevoked
        }
    }

    package func metadata(of entry: TakenRevocation) -> Logger.Metadata {
        ["revocation": "\(entry.id.text)", "provider": "\(entry.provider)", "application": "\(entry.applicationName)"]
    }
}
