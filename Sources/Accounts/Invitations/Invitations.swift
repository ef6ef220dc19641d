internal import Foundation
internal import ProviderKit

/// Creates the accounts of people that an administrator has invited.
///
/// The link proves the address that it was sent to, which the account owns. The account can get a password, or an
/// identity of another provider besides. The link also works if sign-up is off.
package struct Invitations: Sendable {
    typealias Store = SignIn.Store & IdentityLinking.Store & InvitationStore & PasswordStore & ProfileStore

    let store: any TransactionalStore & Store
    let hasher: any PasswordHashing
    let passwords: any PasswordPolicy
    let linking: IdentityLinking
    let tokens: SessionTokens

    /// Creates the account, with a password if one is given.
    ///
    /// A weak password or a full hashing queue does not consume the token.
    /// - Throws: `AccountsError.invalidToken`, also if the address has an owner by now.
    package func accept(
        _ text: String, password: String?, displayName: String?, from client: Client, in application: Application
    ) async throws -> SignedIn {
        let (token, seen) = try await pending(text, displayName: displayName, in: application)
        let hash = try await hash(password, for: seen, displayName: displayName, from: client, in: application)
        let outcome = try await store.retryingTransaction { store in
            let invited = try await consume(token, in: application, store: store)
            let evidence = invited.target.evidence.named(displayName ?? invited.invitation.displayName)
            let session = tokens.newSession(by: evidence, of: invited.provider.name, from: client, in: application)
            let verdict = try await verdict(on: evidence, of: invited.provider, in: application, store: store)
            let opened = try await open(session, by: verdict, store: store)
            if let hash {
                try await store.setPassword(
                    hash, of: opened.identityID, ownedBy: opened.user.uid, replacing: nil,
                    application: application.id)
            }
            return try await complete(opened, with: invited.invitation, by: session, store: store)
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    /// Creates the account with a proved identity of a provider, and with the address that the link was sent to.
    ///
    /// A refused proof does not consume the token, but a code that the proof contains is consumed.
    /// - Throws: `AccountsError.invalidToken`; `identityInUse` if the identity would sign in to an existing account;
    ///   `limitReached` if an account can have one identity only; and the errors of a sign-in.
    package func accept(
        _ text: String, with proof: SubmittedProof, of name: String, displayName: String?, from client: Client,
        in application: Application
    ) async throws -> SignedIn {
        let (token, seen) = try await pending(text, displayName: displayName, in: application)
        let provider = try application.providers.named(name)
        let presented = try await proof.presented(for: provider)
        let outcome = try await store.retryingTransactionKeepingRefusals { store in
            let (accepted, client) = try await linking.accept(
                presented, of: provider, for: .signIn, from: client, in: application, store: store)
            let verdict = try await verdict(on: accepted, of: provider, in: application, store: store)
            let limit = application.policy.maximumIdentities
            guard limit > 1 || provider.name == seen.provider && accepted.providerUid == seen.providerUid else {
                throw AccountsError.limitReached(limit: limit, LinkingRule.accountFull.refusal)
            }
            let invited = try await consume(token, in: application, store: store)
            let evidence = accepted.named(displayName ?? invited.invitation.displayName ?? accepted.displayName)
            let session = tokens.newSession(by: evidence, of: provider.name, from: client, in: application)
            let opened = try await open(session, by: verdict, store: store)
            try await add(invited, to: opened, by: session, claiming: verdict.claimed, store: store)
            let outcome = try await complete(opened, with: invited.invitation, by: session, store: store)
            try await linking.redemption.note(outcome, of: presented, in: application, store: store)
            return outcome
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    // MARK: - Link

    /// The recipient of an invitation, and what the account gets.
    private struct Invited: Sendable {
        let provider: ConfiguredProvider
        let target: ChallengeTarget
        let invitation: Invitation
    }

    private func pending(
        _ text: String, displayName: String?, in application: Application
    ) async throws -> (OpaqueToken, Proof) {
        try displayName.map { try Profile.check(displayName: $0) }
        guard let token = tokens.opaque.parse(text),
            let proof = try await store.peek(.invitation, hash: token.hash, application: application.id)
        else { throw AccountsError.invalidToken }
        _ = try application.providers.named(proof.provider)
        return (token, proof)
    }

    /// Consumes the token, before which nothing may be written.
    /// - Throws: `AccountsError.invalidToken`, also if the address has an owner.
    private func consume(
        _ token: OpaqueToken, in application: Application, store: any Store
    ) async throws -> Invited {
        guard let proof = try await store.consume(.invitation, hash: token.hash, application: application.id),
            let address = proof.address, let invitation = proof.invitation
        else { throw AccountsError.invalidToken }
        let target = ChallengeTarget(providerUid: proof.providerUid, address: address)
        guard try await !store.isTaken(target, provider: proof.provider, application: application.id) else {
            throw AccountsError.invalidToken
        }
        return Invited(
            provider: try application.providers.named(proof.provider), target: target, invitation: invitation)
    }

    private func hash(
        _ password: String?, for proof: Proof, displayName: String?, from client: Client, in application: Application
    ) async throws -> PasswordHash? {
        guard let password else { return nil }
        guard try application.providers.named(proof.provider).hasPasswords, let subject = proof.subject else {
            throw AccountsError.invalidParameter("password", reason: "can't be set for an account with a phone number")
        }
        try await passwords.refuseWeak(
            password, of: [subject.address], displayName: displayName ?? proof.invitation?.displayName)
        let attempts = tokens.opaque.attemptKey(provider: proof.provider, providerUid: proof.providerUid)
        return try await hasher.hash(password, sharingSaltOf: nil, for: HashingRequester(client, subject: attempts))
    }

    // MARK: - Account

    /// The verdict that creates the account.
    /// - Throws: the refusal of any other verdict.
    private func verdict(
        on evidence: VerifiedIdentity, of provider: ConfiguredProvider, in application: Application, store: any Store
    ) async throws -> LinkingVerdict {
        guard !evidence.isGuest else { throw AccountsError.providerDisabled(LinkingRule.guestNotLinkable.refusal) }
        let state = try await LinkingFacts(store: store, application: application).read(evidence, of: provider).state
        var policy = LinkingPolicy(provider, in: application)
        // The administrator has decided that this person may sign up.
        if policy.mode == .existing { policy.mode = .open }
        let verdict = decide(evidence, state: state, policy: policy)
        switch verdict.outcome {
        case .create(let identity) where identity.displacing == nil: return verdict
        case .refuse: throw AccountsError.providerDisabled(verdict.refusal)
        default: throw AccountsError.identityInUse(ticket: nil, LinkingRule.identityInUse.refusalWithoutTicket)
        }
    }

    private func open(
        _ session: NewSession, by verdict: LinkingVerdict, store: any Store
    ) async throws -> OpenedSession {
        let writer = VerdictWriter(session: session, contacts: [:], tokens: tokens, store: store)
        guard case .opened(let opened, _) = try await writer.write(verdict) else { throw StoreConflict() }
        return opened
    }

    /// Adds the address that the link was sent to, unless the account was created with its identity.
    private func add(
        _ invited: Invited, to opened: OpenedSession, by session: NewSession, claiming claimed: [Address],
        store: any Store
    ) async throws {
        let target = invited.target
        let hasIdentity =
            session.provider == invited.provider.name && session.evidence.providerUid == target.providerUid
        guard !hasIdentity else { return }
        let identity = NewIdentity(
            claiming: [target.address].filter { !claimed.contains($0) }, showing: [target.address])
        let proof = tokens.newSession(
            by: target.evidence, of: invited.provider.name, from: session.client, in: session.application)
        _ = try await store.add(
            identity, provenBy: proof, recording: EvidenceRecord(.linkAsked, of: proof.evidence), to: opened.user.uid)
        try await store.evictUnprovenClaims(
            on: [target.address], owner: opened.user.uid, application: session.application.id)
    }

    /// Sets the roles and claims, and reads the account that the session's first token describes.
    private func complete(
        _ opened: OpenedSession, with invitation: Invitation, by session: NewSession, store: any Store
    ) async throws -> SignInOutcome {
        let application = session.application
        let rules = application.policy.access
        try await store.setInvited(
            invitation.access(under: rules), naming: rules.roles ?? [], of: opened.user.uid,
            application: application.id)
        guard let user = try await store.user(opened.user.uid, application: application.id) else {
            throw StoreConflict()
        }
        var opened = opened
        opened.user = user
        (opened.grant.email, opened.grant.phone, opened.grant.access) = (user.email, user.phone, user.access)
        return .opened(opened, secret: session.secret)
    }
}

extension VerifiedIdentity {
    fileprivate func named(_ displayName: String?) -> VerifiedIdentity {
        var evidence = self
        evidence.displayName = displayName
        return evidence
    }
}

extension LinkingVerdict {
    /// The addresses that the new account gets with its first identity.
    fileprivate var claimed: [Address] {
        if case .create(let identity) = outcome { identity.claiming } else { [] }
    }
}
