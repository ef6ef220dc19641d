internal import Foundation
internal import ProviderKit

/// The identity that gets the new password.
extension AccountRecovery {
    /// The address whose identity gets the password: the one that the link was sent to, or else the oldest that is
    /// surely the owner's.
    func subject(of link: Link, in application: Application) async throws -> PasswordSubject {
        let (configured, provider) = try application.providers.passwordProvider()
        if let email = link.address?.email { return try provider.subject(typed: email.value) }
        guard let user = try await store.user(link.uid, application: application.id) else {
            throw AccountsError.invalidToken
        }
        let identities = try await store.identities(of: link.uid, application: application.id)
            .filter { $0.emailVerified && isSurelyOwn($0, of: user) }
        for identity in identities where identity.provider == configured.name {
            guard let email = identity.email else { continue }
            return PasswordSubject(providerUid: identity.providerUid, address: email)
        }
        let owned = try await store.contact(of: link.uid, application: application.id).addresses
        guard let email = identities.lazy.compactMap(\.email).first(where: { owned.contains(.email($0)) }) else {
            throw AccountsError.identityNotFound
        }
        return try provider.subject(typed: email.value)
    }

    /// Whether no intruder can have linked the identity lately: it opened the account, or was linked before the time
    /// for which a reset quarantines identities.
    private func isSurelyOwn(_ identity: Identity, of user: User) -> Bool {
        guard !identity.isQuarantined else { return false }
        let age = Duration.seconds(tokens.time.now().timeIntervalSince(identity.linkedAt))
        return identity.linkedAt <= user.createdAt || age > replacement.quarantine
    }

    /// The account's identity with the subject; `nil` if the account owns only its address.
    func identity(
        of subject: PasswordSubject, in link: Link, ofProvider provider: String, reachedAt contact: OwnerContact,
        in application: Application, store: any Store
    ) async throws -> KnownIdentity? {
        if var known = try await store.knownIdentity(provider, subject.providerUid, application: application.id) {
            guard known.uid == link.uid, link.provesMailbox || !known.isQuarantined else {
                throw AccountsError.invalidToken
            }
            // A mailed link takes the place of the other sign-in that a quarantined identity needs.
            known.isQuarantined = false
            return known
        }
        guard contact.addresses.contains(.email(subject.address)) else { throw AccountsError.invalidToken }
        guard try await hasRoom(link.uid, in: application, store: store) else {
            throw AccountsError.limitReached(
                limit: application.policy.maximumIdentities, LinkingRule.accountFull.refusal)
        }
        return nil
    }

    func add(
        _ subject: PasswordSubject, to uid: UUID, by session: NewSession, notifying contact: OwnerContact,
        store: any Store
    ) async throws -> KnownIdentity {
        try await VerdictWriter(session: session, contacts: [uid: contact], tokens: tokens, store: store)
            .add(
                NewIdentity(claiming: [], showing: [.email(subject.address)]),
                recording: EvidenceRecord(.linkAsked, of: session.evidence), to: uid)
    }
}
