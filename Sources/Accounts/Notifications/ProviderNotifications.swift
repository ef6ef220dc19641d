internal import Foundation
internal import ProviderKit

/// Applies events from providers to the identities that they concern.
package struct ProviderNotifications: Sendable {
    /// The tolerated difference between two clocks, in seconds; some providers also send only whole seconds.
    private static let clockTolerance: TimeInterval = 60

    typealias Store = AccountLocks & IdentityStore & SingleUseStore & MailForwardingStore & DeletionScheduling.Store
        & IdentityUnlinking.Store

    let store: any TransactionalStore & Store

    /// Applies an event of a provider of that kind once; events about unknown identities are ignored.
    /// - Throws: `ProviderError.refused` if no provider accepts the signature and the audience.
    package func receive(
        _ payload: String, ofKind kind: String, named name: String?, in application: Application
    ) async throws {
        let candidates = try application.providers.providers(ofKind: kind, named: name)
        guard let (event, configured) = try await event(in: payload, forOneOf: candidates) else { return }
        try await store.retryingTransaction { store in
            guard try await store.spend(event.singleUse, provider: configured.name, application: application.id),
                let known = try await store.lockIdentity(
                    configured.name, event.providerUid, application: application.id)
            else { return }
            let identities = try await store.identities(of: known.uid, application: application.id)
            // An identity that was created after the event, or signed in after a revocation, has new consent.
            guard let identity = identities.first(where: { $0.id == known.id }), !isAfter(event, identity.createdAt),
                event.change != .consentRevoked || !isAfter(event, identity.lastUsedAt)
            else { return }
            try await apply(event.change, to: identity, of: known, among: identities, in: application, store: store)
        }
    }

    /// Finds the candidate that accepts the event, which does not contain the configured name.
    private func event(
        in payload: String, forOneOf candidates: [ConfiguredProvider]
    ) async throws -> (ProviderEvent, ConfiguredProvider)? {
        for configured in candidates {
            guard let provider = configured.provider as? any NotifyingProvider else { continue }
            do {
                return try await provider.event(in: payload).map { ($0, configured) }
            } catch ProviderError.refused {
                continue
            }
        }
        throw ProviderError.refused
    }

    private func isAfter(_ event: ProviderEvent, _ time: Date?) -> Bool {
        (time?.timeIntervalSince(event.occurredAt) ?? 0) > Self.clockTolerance
    }

    private func apply(
        _ change: ProviderEvent.Change, to identity: Identity, of account: KnownIdentity, among identities: [Identity],
        in application: Application, store: any Store
    ) async throws {
        let (uid, others) = (account.uid, identities.filter { $0.id != identity.id })
        switch change {
        case .forwarding(let address, let isOn):
            try await store.setForwarding(isOn, of: address, uid: uid, application: application.id)
        case .consentRevoked where !application.providers.canSignIn(withAnyOf: others):
            // If no other identity can sign in, this one remains, so that the owner can consent again.
            try await store.dropTokens(of: identity.id, application: application.id)
            try await store.endSessions(
                .openedBy([identity.id]), of: uid, because: .consentRevoked, application: application.id)
        case .accountDeleted, .consentRevoked:
            // An account in its grace period keeps the identities that can restore it.
            guard account.status.isUndeleted else { return }
            guard change != .accountDeleted || !others.isEmpty else {
                return try await DeletionScheduling(store: store, application: application).schedule(uid, by: .provider)
            }
            // The provider has already invalidated the tokens, so they need not be revoked there.
            try await store.dropTokens(of: identity.id, application: application.id)
            let contact = try await store.contact(of: uid, application: application.id)
            try await IdentityUnlinking(store: store, application: application).unlink(
                identity, of: uid, notifying: contact)
        }
    }
}
