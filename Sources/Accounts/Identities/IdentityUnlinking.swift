package import Foundation
package import ProviderKit

/// Removes identities of accounts that have other identities and that the transaction has locked.
package struct IdentityUnlinking: Sendable {
    package typealias Store = IdentityRemovalStore & ProviderTokenStore & SessionEndStore & EventOutbox
        & OwnerNotices.Store

    let store: any Store
    let application: Application

    package init(store: any Store, application: Application) { (self.store, self.application) = (store, application) }

    /// Removes an identity that an administrator chose.
    ///
    /// The notice also goes to the identity's own verified address, even if it is a phone number and the account has an
    /// e-mail address. `details` are further details of the audit event.
    package func unlink(_ identity: Identity, of uid: UUID, details: [String: JSONValue]) async throws {
        let contact = try await store.contact(of: uid, application: application.id)
        let own = contact.addresses.filter(identity.rests(on:))
        try await unlink(identity, of: uid, notifying: contact, and: own, details: details)
    }

    /// Removes the identity and ends its sessions, after the notice, which also goes to an address that is lost.
    func unlink(
        _ identity: Identity, of uid: UUID, notifying contact: OwnerContact, and further: [Address] = [],
        details: [String: JSONValue] = [:]
    ) async throws {
        try await OwnerNotices(store: store, application: application.id).send(
            .identityRemoved, to: contact, and: further, ofOwnerOf: uid,
            provider: application.providers.displayName(of: identity.provider))
        try await store.endSessions(
            .openedBy([identity.id]), of: uid, because: .identityRemoved, application: application.id)
        try await store.revokeTokens(of: identity.id, application: application.id)
        try await store.removeIdentity(identity.id, of: uid, details: details, application: application.id)
        try await store.announce(
            [.identity(.identityUnlinked, identity.id, of: uid, provider: identity.provider)],
            application: application.id)
    }
}
