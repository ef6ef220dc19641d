internal import Foundation
internal import ProviderKit

/// Lets the owner into an account with a link that an administrator has had made.
///
/// The link takes the place of a proof of the account. Using it does what a password reset does: every session ends,
/// unfinished changes end, and identities that were linked recently need another sign-in.
package struct AccountRecovery: Sendable {
    typealias Store = PasswordReplacement.Store & IdentityLinking.Store & RecoveryStore & AuditTrail & QuarantineStore
        & ProfileStore

    let store: any TransactionalStore & Store
    let hasher: any PasswordHashing
    let passwords: any PasswordPolicy
    let linking: IdentityLinking
    let replacement: PasswordReplacement
    let tokens: SessionTokens

    /// Sets a new password, and opens a session.
    ///
    /// A weak password, a full hashing queue or an account without room does not consume the token.
    /// - Throws: `AccountsError.invalidToken`; `identityNotFound` if the account has no e-mail address that is surely its
    ///   owner's.
    package func recover(
        _ text: String, to password: String, from client: Client, in application: Application
    ) async throws -> SignedIn {
        let link = try await pending(text, in: application)
        let (configured, _) = try application.providers.passwordProvider()
        let subject = try await subject(of: link, in: application)
        try await passwords.refuseWeak(password, of: [subject.address], displayName: nil)
        let attempts = tokens.opaque.attemptKey(provider: configured.name, subject: subject)
        let hash = try await hasher.hash(password, sharingSaltOf: nil, for: HashingRequester(client, subject: attempts))

        let session = tokens.newSession(by: subject.evidence, of: configured.name, from: client, in: application)
        let outcome = try await store.retryingTransactionKeepingRefusals { store in
            let contact = try await hold(link, in: application, store: store)
            let known = try await identity(
                of: subject, in: link, ofProvider: configured.name, reachedAt: contact, in: application, store: store)
            // Only refusals come before, because a refusal commits what was written.
            try await consume(link, in: application, store: store)
            try await store.discard(
                .passwordReset, provider: configured.name, providerUid: subject.providerUid,
                application: application.id)
            let identity =
                if let known { known } else {
                    try await add(subject, to: link.uid, by: session, notifying: contact, store: store)
                }
            if link.provesMailbox {
                try await store.liftQuarantine(of: [identity.id], uid: link.uid, application: application.id)
            }
            try await replacement.set(
                hash, by: session, of: subject, provingMailbox: link.provesMailbox, store: store)
            try await record(link, by: session, store: store)
            let opened = try await store.open(session, identity: identity)
            return SignInOutcome.opened(opened, secret: session.secret)
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    /// Links a proved identity, or accepts one that the account has, and opens a session with it.
    ///
    /// The account's passwords are removed, because an intruder may know them. A proof that is refused, or that was used
    /// before, does not consume the token, but a code that the proof contains is consumed.
    /// - Throws: `AccountsError.invalidToken`; `identityInUse` if another account has the identity; and the errors of a
    ///   sign-in.
    package func recover(
        _ text: String, with proof: SubmittedProof, of name: String, from client: Client, in application: Application
    ) async throws -> SignedIn {
        let link = try await pending(text, in: application)
        let provider = try application.providers.named(name)
        guard provider.mode != .linkOnly else {
            throw AccountsError.providerDisabled(LinkingRule.providerLinkOnly.refusal)
        }
        let presented = try await proof.presented(for: provider)
        let outcome = try await store.retryingTransactionKeepingRefusals { store in
            let (evidence, client) = try await linking.accept(
                presented, of: provider, for: .signIn, from: client, in: application, store: store)
            let facts = LinkingFacts(store: store, application: application)
            let reading = try await facts.read(evidence, of: provider)
            try await facts.hold(
                reading, locking: reading.state.accounts.union([link.uid]), for: evidence, of: provider)
            let contact = try await hold(link, in: application, store: store)
            let entrance = try await entrance(
                for: evidence, reading.state, to: link.uid, policy: LinkingPolicy(provider, in: application),
                in: application, store: store)

            let session = tokens.newSession(by: evidence, of: provider.name, from: client, in: application)
            let writer = VerdictWriter(
                session: session, contacts: [link.uid: contact], tokens: tokens, store: store)
            // A refusal commits what was written, so evidence that was used before is refused first.
            try await writer.spendEvidence()
            try await consume(link, in: application, store: store)
            try await revokeAccess(to: link, in: application, store: store)
            try await record(link, by: session, store: store)
            let outcome = try await enter(link.uid, by: entrance, writer, store: store)
            try await linking.redemption.note(outcome, of: presented, in: application, store: store)
            return outcome
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    // MARK: - Link

    struct Link: Sendable {
        let token: OpaqueToken
        let uid: UUID
        /// Where the link was sent; `nil` if an administrator was shown it.
        let address: Address?
        /// Whether the link shows who reads a mailbox.
        ///
        /// One that was texted or shown says nothing about mailboxes, which an intruder may have linked.
        var provesMailbox: Bool { address?.email != nil }
    }

    private func pending(_ text: String, in application: Application) async throws -> Link {
        guard let token = tokens.opaque.parse(text),
            let proof = try await store.peek(.recovery, hash: token.hash, application: application.id),
            let uid = proof.uid
        else { throw AccountsError.invalidToken }
        return Link(token: token, uid: uid, address: proof.address)
    }

    /// Locks the account, and refuses a link that is no longer valid.
    ///
    /// All that ends or consumes a link holds the account's lock, so the link stays valid in this transaction. A link to
    /// an account that is disabled, deleted or merged away is consumed.
    /// - Returns: The owner's former contact.
    /// - Throws: `AccountsError.invalidToken`, also if the account has lost the address that the link was sent to.
    private func hold(_ link: Link, in application: Application, store: any Store) async throws -> OwnerContact {
        let status = try await store.lockAccount(link.uid, application: application.id)
        guard try await store.peek(.recovery, hash: link.token.hash, application: application.id) != nil else {
            throw AccountsError.invalidToken
        }
        switch status {
        case .live?: break
        case .disabled?:
            try await consume(link, in: application, store: store)
            throw AccountsError.accountDisabled(LinkingRule.accountDisabled.refusal)
        case .deleted?, .absorbed?, nil:
            try await consume(link, in: application, store: store)
            throw AccountsError.invalidToken
        }
        let contact = try await store.contact(of: link.uid, application: application.id)
        if let address = link.address, !contact.addresses.contains(address) {
            try await consume(link, in: application, store: store)
            throw AccountsError.invalidToken
        }
        return contact
    }

    private func consume(_ link: Link, in application: Application, store: any Store) async throws {
        guard try await store.consume(.recovery, hash: link.token.hash, application: application.id) != nil else {
            throw AccountsError.invalidToken
        }
    }

    private func record(_ link: Link, by session: NewSession, store: any Store) async throws {
        let entry = AuditEntry(.accountRecovered, of: link.uid, details: ["provider": .string(session.provider)])
        try await store.record(entry, application: session.application.id)
    }

    func hasRoom(_ uid: UUID, in application: Application, store: any Store) async throws -> Bool {
        let identities = try await store.identities(of: uid, application: application.id)
        return identities.count { !$0.isGuest } < application.policy.maximumIdentities
    }

    // MARK: - Identity

    /// How a proved identity leads into the account.
    private enum Entrance: Sendable {
        case own(KnownIdentity)
        case new(NewIdentity)
    }

    /// - Throws: the refusal of an identity that cannot join the account.
    private func entrance(
        for evidence: VerifiedIdentity, _ state: LinkingState, to uid: UUID, policy: LinkingPolicy,
        in application: Application, store: any Store
    ) async throws -> Entrance {
        if var known = state.identity, known.uid == uid {
            (known.isQuarantined, known.needsOtherSignIn) = (false, false)
            return .own(known)
        }
        var state = state
        let isFull = try await !hasRoom(uid, in: application, store: store)
        state.requester = RequestingAccount(uid: uid, isGuest: false, isFull: isFull)
        let verdict = decide(evidence, state: state, policy: policy)
        switch verdict.outcome {
        case .link(let identity, _): return .new(identity)
        case .full:
            throw AccountsError.limitReached(limit: application.policy.maximumIdentities, verdict.refusal)
        case .refuse: throw AccountsError.providerDisabled(verdict.refusal)
        default: throw AccountsError.identityInUse(ticket: nil, LinkingRule.identityInUse.refusalWithoutTicket)
        }
    }

    /// Ends the account's sessions and unfinished changes, removes its passwords, and quarantines identities that were
    /// linked recently, except those with the address that the link was sent to.
    private func revokeAccess(to link: Link, in application: Application, store: any Store) async throws {
        try await store.endPending(of: link.uid, application: application.id)
        // The address alone names every identity that has it.
        let mailbox = link.address?.email.map { PasswordSubject(providerUid: $0.value, address: $0) }
        try await store.quarantine(
            identitiesOf: link.uid, linkedWithin: replacement.quarantine, butNot: mailbox, sparing: [], provider: "",
            application: application.id)
        try await store.endSessions(.all, of: link.uid, because: .passwordReset, application: application.id)
        if try await store.removePasswords(of: link.uid, application: application.id) {
            try await OwnerNotices(store: store, application: application.id)
                .send(.passwordChanged, toOwnerOf: link.uid)
        }
    }

    private func enter(
        _ uid: UUID, by entrance: Entrance, _ writer: VerdictWriter, store: any Store
    ) async throws -> SignInOutcome {
        let record = EvidenceRecord(.linkAsked, of: writer.session.evidence)
        switch entrance {
        case .own(let identity):
            try await store.liftQuarantine(
                of: [identity.id], uid: uid, application: writer.session.application.id)
            return try await writer.signIn(by: .known(identity), recording: record)
        case .new(let identity):
            try await writer.displace(identity.displacing)
            return try await writer.open(adding: identity, recording: record, to: uid)
        }
    }
}
