internal import Foundation

/// Removes identities of accounts that have other identities and that the transaction has locked.
struct IdentityUnlinking: Sendable {
    typealias Store = IdentityRemovalStore & ProviderTokenStore & SessionEndStore & EventOutbox & OwnerNotices.Store

    let store: any Store
    let application: Application

    /// Removes the identity and ends its sessions, after the notice, which also goes to an address that is lost.
    func unlink(_ identity: Identity, of uid: UUID, notifying contact: OwnerContact) async throws {
        try await OwnerNotices(store: store, application: application.id).send(
            .identityRemoved, to: contact, ofOwnerOf: uid,
            provider: application.providers.displayName(of: identity.provider))
        try await store.endSessions(
            .openedBy([identity.id]), of: uid, because: .identityRemoved, application: application.id)
        try await store.revokeTokens(of: identity.id, application: application.id)
        try await store.removeIdentity(identity.id, of: uid, application: application.id)
        try await store.announce(
            [.identity(.identityUnlinked, identity.id, of: uid, provider: identity.provider)],
            application: application.id)
    }
}
