internal import Foundation
internal import ProviderKit

/// What a provider tells about its side changes the one identity that it is about.
package struct ProviderNotifications: Sendable {
    /// Clocks differ, and a provider's event may tell whole seconds.
    private static let clockTolerance: TimeInterval = 60

    typealias Store = AccountLocks & IdentityStore & SingleUseStore & MailForwardingStore & DeletionScheduling.Store
        & IdentityUnlinking.Store

    let store: any TransactionalStore & Store

    /// Each event acts once; one about nobody known here is taken and forgotten.
    /// - Throws: `ProviderError.refused` for an event that is none of the candidates'.
    package func receive(
        _ payload: String, forOneOf candidates: [ConfiguredProvider], in application: Application
    ) async throws {
        guard let (event, configured) = try await event(in: payload, forOneOf: candidates) else { return }
        try await store.retryingTransaction { store in
            guard
                try await store.spend(event.singleUse, provider: configured.name, application: application.id),
                let identity = try await lockedIdentity(of: event, provider: configured.name, in: application, store)
            else { return }
            // Whoever has signed in since has consented anew.
            let isUsedSince = (identity.lastUsedAt?.timeIntervalSince(event.occurredAt) ?? 0) > Self.clockTolerance
            guard event.change != .consentRevoked || !isUsedSince else { return }
            try await apply(event.change, to: identity, of: configured, in: application, store: store)
        }
    }

    /// The service doesn't know our names for its clients: it is the signature and the audience that tell whose it is.
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

    /// `nil` for one that is unknown, or was made after what the event tells: whoever comes back has consented anew.
    private func lockedIdentity(
        of event: ProviderEvent, provider: String, in application: Application, _ store: any Store
    ) async throws -> HeldIdentity? {
        let subject = (provider: provider, providerUid: event.providerUid, application: application.id)
        guard let seen = try await store.heldIdentity(subject.provider, subject.providerUid, subject.application),
            try await store.lockAccount(seen.uid, application: application.id) != nil,
            // What was seen before the lock may have gone, or moved, meanwhile.
            let held = try await store.heldIdentity(subject.provider, subject.providerUid, subject.application)
        else { return nil }
        guard held.uid == seen.uid else { throw StoreConflict() }
        let isOutdated = held.createdAt.timeIntervalSince(event.occurredAt) > Self.clockTolerance
        return isOutdated ? nil : held
    }

    private func apply(
        _ change: ProviderEvent.Change, to identity: HeldIdentity, of provider: ConfiguredProvider,
        in application: Application, store: any Store
    ) async throws {
        switch change {
        case .forwarding(let address, let isOn):
            try await store.setForwarding(isOn, of: address, uid: identity.uid, application: application.id)
        case .consentRevoked where try await !hasOtherWay(than: identity, in: application, store: store):
            // Nothing else would open the account: consenting again must bring its owner back.
            try await store.dropTokens(of: identity.id, application: application.id)
            try await store.endSessions(
                .openedBy(identity.id), of: identity.uid, because: .consentRevoked, application: application.id)
        case .accountDeleted where identity.isLast:
            guard identity.status.isStaying else { return }
            try await DeletionScheduling(store: store, application: application)
                .schedule(identity.uid, by: .provider)
        case .consentRevoked, .accountDeleted:
            // In its grace period an account keeps what it can be brought back by.
            guard identity.status.isStaying else { return }
            // The service has forgotten its tokens already.
            try await store.dropTokens(of: identity.id, application: application.id)
            let record = try await store.identities(of: identity.uid, application: application.id)
                .first { $0.id == identity.id }
            if let record {
                try await IdentityUnlinking(store: store, application: application).unlink(record, of: identity.uid)
            }
        }
    }

    private func hasOtherWay(
        than identity: HeldIdentity, in application: Application, store: any Store
    ) async throws -> Bool {
        try await store.identities(of: identity.uid, application: application.id)
            .contains { $0.id != identity.id && application.providers.canSignIn(with: $0) }
    }
}
