internal import Foundation
internal import ProviderKit

/// Sets a new password after a mailed token was presented, and revokes all other access to the account.
package struct PasswordReplacement: Sendable {
    typealias Store = SignIn.Store & PasswordStore & PasswordResetStore & PasswordAttemptStore & RoleIdentityStore

    let signIn: SignIn
    let tokens: SessionTokens
    /// Identities that were linked within this time before the reset are quarantined; zero quarantines none.
    let quarantine: Duration

    /// Replaces the password; the transaction has locked the accounts that the evidence leads to.
    /// - Returns: for an account in its grace period, the refusal that offers to restore it with the new password.
    func replace(
        by session: NewSession, of subject: PasswordSubject, with hash: PasswordHash, store: any Store
    ) async throws -> AccountsError? {
        let application = session.application
        let provider = try application.providers.named(session.provider)
        let decision = try await signIn.decision(on: session.evidence, of: provider, in: application, store: store)
        let verdict = decision.verdict
        let contacts = decision.reading.contacts
        switch verdict.outcome {
        case .signIn(.known):
            // A password reset opens no session.
            break
        case .deleted(let uid, _, _):
            // The password is replaced before the account is restored, so that the old one cannot restore it.
            try await revokeAccess(of: uid, setting: hash, proving: subject, by: session, store: store)
            var session = session
            session.newPassword = hash
            let outcome = try await VerdictWriter(session: session, contacts: contacts, tokens: tokens, store: store)
                .write(verdict)
            guard case .refused(let refusal) = outcome else { throw StoreConflict() }
            try await removeOthersClaims(at: subject.address, owner: uid, application: application.id, store: store)
            return refusal
        default:
            // The evidence joins or creates an account, or is refused.
            let outcome = try await VerdictWriter(session: session, contacts: contacts, tokens: tokens, store: store)
                .write(verdict)
            if case .refused(let refusal) = outcome { throw refusal }
        }
        try await set(hash, by: session, of: subject, store: store)
        return nil
    }

    /// Sets the password of the identity that the session's evidence proves, and revokes all other access.
    ///
    /// Without `provingMailbox`, nothing shows that the caller can read the subject's mailbox, so no review link is
    /// sent there.
    func set(
        _ hash: PasswordHash, by session: NewSession, of subject: PasswordSubject, provingMailbox: Bool = true,
        store: any Store
    ) async throws {
        let application = session.application.id
        let identity = try await store.lockIdentity(
            session.provider, session.evidence.providerUid, application: application)
        guard let identity, identity.status == .live else { throw StoreConflict() }
        let setBefore = try await store.passwordChangedAt(of: identity.id, application: application)
        try await store.setPassword(
            hash, of: identity.id, ownedBy: identity.uid, replacing: nil, provingMailbox: provingMailbox,
            application: application)
        try await revokeAccess(of: identity.uid, setting: hash, proving: subject, by: session, store: store)
        try await store.clearFailures(
            tokens.opaque.attemptKey(provider: session.provider, subject: subject), application: application)
        if provingMailbox {
            try await notify(identity, of: subject, by: session, since: setBefore, store: store)
        } else {
            try await OwnerNotices(store: store, application: application)
                .send(.passwordChanged, toOwnerOf: identity.uid)
        }
        try await removeOthersClaims(at: subject.address, owner: identity.uid, application: application, store: store)
    }

    /// Removes other people's claims on the proved address; the owner's account is locked before.
    private func removeOthersClaims(
        at address: EmailAddress, owner: UUID, application: Application.ID, store: any Store
    ) async throws {
        try await store.evictUnprovenClaims(on: [.email(address)], owner: owner, application: application)
        try await store.discardDecoys(of: address, application: application)
    }

    /// Replaces every password of the account, since an intruder may have set them, ends the account's unfinished
    /// operations, quarantines recently linked identities, and then ends all sessions.
    ///
    /// Identities that the proved one must not change keep their password and are not quarantined (`RoleIdentityStore`).
    private func revokeAccess(
        of uid: UUID, setting hash: PasswordHash, proving subject: PasswordSubject, by session: NewSession,
        store: any Store
    ) async throws {
        let application = session.application.id
        let beyond = try await store.identitiesWithRoles(
            beyond: session.provider, session.evidence.providerUid, of: uid, application: application)
        let identities = try await store.passwordIdentities(
            of: uid, provider: session.provider, preferring: nil, application: application)
        for identity in identities where !beyond.contains(identity.id) {
            guard identity.hash != nil, identity.hash != hash else { continue }
            try await store.setPassword(
                hash, of: identity.id, ownedBy: uid, replacing: identity.hash, application: application)
        }
        try await store.endPending(of: uid, application: application)
        try await store.quarantine(
            identitiesOf: uid, linkedWithin: quarantine, butNot: subject, sparing: beyond, provider: session.provider,
            application: application)
        try await store.endSessions(.all, of: uid, because: .passwordReset, application: application)
    }

    /// Mails the identities that were linked since the password was set, with a review link, to the proved address.
    private func notify(
        _ identity: KnownIdentity, of subject: PasswordSubject, by session: NewSession, since setBefore: Date?,
        store: any Store
    ) async throws {
        let application = session.application
        let linked = try await store.identities(of: identity.uid, application: application.id).filter {
            $0.id != identity.id && !$0.isGuest && ($0.isQuarantined || $0.linkedAt > setBefore ?? .distantPast)
        }
        guard !linked.isEmpty else {
            return try await OwnerNotices(store: store, application: application.id)
                .send(.passwordChanged, toOwnerOf: identity.uid)
        }
        let token = tokens.opaque.make()
        let proof = NewProof.review(token, of: identity.uid, provider: session.provider, subject: subject)
        try await store.issue(proof, application: application.id)
        let contact = try await store.contact(of: identity.uid, application: application.id)
        let others = contact.noticeAddresses.filter { $0 != .email(subject.address) }
        let messages = others.map { Message(.passwordChanged, to: $0, locale: contact.languages) }
        let review = Message(
            .passwordReset, to: .email(subject.address), link: "\(application.issuer)/review?token=\(token.text)",
            until: proof.expiry(from: tokens.time.now()),
            identities: linked.map { $0.name(in: application) }, locale: contact.languages)
        try await store.enqueue(messages + [review], about: identity.uid, application: application.id)
    }
}
