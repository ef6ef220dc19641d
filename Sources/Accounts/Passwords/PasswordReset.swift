internal import Foundation
internal import ProviderKit

/// A new password for whoever can read the address's mail.
package struct PasswordReset: Sendable {
    private let store: any TransactionalStore
    private let hasher: any PasswordHashing
    private let passwords: any PasswordPolicy
    private let signIn: SignIn
    private let tokens: SessionTokens
    private let limits: any RateLimiting

    package init(
        store: any TransactionalStore, hasher: any PasswordHashing, passwords: any PasswordPolicy, signIn: SignIn,
        tokens: SessionTokens, limits: any RateLimiting
    ) {
        self.store = store
        self.hasher = hasher
        self.passwords = passwords
        self.signIn = signIn
        self.tokens = tokens
        self.limits = limits
    }

    /// Mails a link where the address has an account or a pending registration; issues a proof and writes a mail, both
    /// for nobody, where not.
    ///
    /// `languages` is what `Accept-Language` says.
    package func request(typed: String, reading languages: String?, in application: Application) async throws {
        let (configured, provider) = try application.providers.passwordProvider()
        let subject = try provider.subject(typed: typed)
        try await limits.spend(
            .forgotPasswordTarget, of: RateSubject(target: subject.address.value), in: application)
        let attempts = tokens.opaque.attemptKey(provider: configured.name, subject: subject)
        let token = tokens.opaque.make()
        let proof = NewProof.passwordReset(token, provider: configured.name, subject: subject)
        let message = Message(
            .resetPassword, to: subject.address, link: provider.link(for: .reset, token: token.text),
            until: proof.expiry(from: tokens.time.now()), locale: languages)
        try await store.wholeDecision { store in
            let state = try await store.passwordState(
                of: subject, provider: configured.name, attempts: attempts, application: application.id)
            try await store.issue(proof, application: application.id)
            let isKnown = state.isTaken || state.registration != nil
            try await store.enqueue([isKnown ? message : message.toNobody], application: application.id)
        }
    }

    /// Proves the address, by a token that is used up whatever comes of it: sets the password of its identity (which joins or opens an account like any proof of an
    /// address would), ends every session of the account, lifts the lock and forgets pending registrations.
    package func reset(_ text: String, to password: String, from client: Client, in application: Application)
        async throws
    {
        try hasher.requirePlace(for: PasswordAsker(client, subject: nil))
        guard let token = tokens.opaque.parse(text),
            let promised = try await store.peek(.passwordReset, hash: token.hash, application: application.id),
            let address = promised.address
        else { throw AccountsError.invalidToken }
        try await passwords.refuseWeak(password, of: [address], displayName: nil)
        let attempts = tokens.opaque.attemptKey(provider: promised.provider, providerUid: promised.providerUid)
        let hash = try await hasher.hash(
            password, sharingSaltOf: nil, for: PasswordAsker(client, subject: attempts))

        let session = tokens.newSession(methods: ["otp"], client: client, in: application)
        let leaving = try await store.standingDecision { store -> AccountInGracePeriod? in
            guard
                let proof = try await store.consume(.passwordReset, hash: token.hash, application: application.id)
            else { throw AccountsError.invalidToken }
            let evidence = VerifiedIdentity(
                providerUid: proof.providerUid,
                addresses: [AddressClaim(address: .email(address), isVerified: true, isAuthoritative: true)],
                methods: session.methods)
            let opening = SessionOpening(
                session: session, evidence: evidence, provider: proof.provider, application: application.id)
            let leaving = try await admit(opening, in: application, store: store)
            let owner =
                leaving == nil
                ? try await replacePassword(of: opening, with: hash, address: address, store: store) : nil
            // After the account was locked, as everybody does it.
            try await store.evictUnprovenClaims(on: [.email(address)], owner: owner, application: application.id)
            try await store.discardDecoys(of: address, application: application.id)
            return leaving
        }
        if let leaving { throw leaving.error }
    }

    /// Makes sure that the address opens an account: it may already, or its proof joins or opens one now.
    ///
    /// - Returns: an account in its grace period, which gets no new password before it is restored.
    private func admit(
        _ opening: SessionOpening, in application: Application, store: any AccountsStore
    ) async throws -> AccountInGracePeriod? {
        let provider = try application.providers.named(opening.provider)
        let verdict = try await signIn.verdict(on: opening.evidence, of: provider, in: application, store: store)
        // A reset signs nobody in: a known identity needs no session.
        if case .enter(.known) = verdict.outcome { return nil }
        let outcome = try await signIn.write(verdict, opening, by: provider, in: application, store: store)
        guard case .deleted(let leaving) = outcome else { return nil }
        return leaving
    }

    /// - Returns: whose it is.
    private func replacePassword(
        of opening: SessionOpening, with hash: PasswordHash, address: EmailAddress, store: any AccountsStore
    ) async throws -> UUID {
        let identity = try await store.lockedIdentity(of: opening)
        let application = opening.application
        try await store.setPassword(hash, of: identity.id, replacing: nil, application: application)
        _ = try await store.endSessions(.all, of: identity.uid, because: .passwordReset, application: application)
        let subject = PasswordSubject(providerUid: opening.evidence.providerUid, address: address)
        try await store.clearFailures(
            tokens.opaque.attemptKey(provider: opening.provider, subject: subject), application: application)
        try await store.notify(ownerOf: identity.uid, .passwordChanged, application: application)
        return identity.uid
    }
}

extension AccountsStore {
    /// The live identity that the evidence names, its account locked.
    ///
    /// - Throws: `StoreConflict` when there is none, or none any more.
    func lockedIdentity(of opening: SessionOpening) async throws -> KnownIdentity {
        let (provider, application) = (opening.provider, opening.application)
        guard let seen = try await heldIdentity(provider, opening.evidence.providerUid, application),
            try await lockAccount(seen.uid, application: application) == .live,
            // What was seen before the lock may have moved to another account meanwhile.
            let held = try await heldIdentity(provider, opening.evidence.providerUid, application),
            held.id == seen.id, held.uid == seen.uid, held.status == .live
        else { throw StoreConflict() }
        return KnownIdentity(id: held.id, uid: held.uid, status: held.status)
    }
}
