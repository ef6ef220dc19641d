internal import ProviderKit

package struct PasswordSignIn: Sendable {
    typealias Store = PasswordAttemptStore & PasswordRehashStore & IdentityStore & SessionOpeningStore
        & RefusalWriter.Store

    let store: any Store
    let hasher: any PasswordHashing
    let tokens: SessionTokens

    /// Signs in with a password; with a principal, re-authenticates.
    ///
    /// One hash is run even if the subject is unknown, unverified or deleted, and the state of the account is revealed
    /// only after the correct password. Only an identity of the principal's account can re-authenticate.
    /// - Throws: `AccountsError`.
    package func signIn(
        typed: String, password: String, by principal: Principal? = nil, from client: Client,
        in application: Application
    ) async throws -> SignedIn {
        let (configured, provider) = try application.providers.passwordProvider()
        let subject = try provider.subject(typed: typed)
        let evidence = VerifiedIdentity(providerUid: subject.providerUid, methods: ["pwd"])
        var session = tokens.newSession(by: evidence, of: configured.name, from: client, in: application)
        session.resumes = principal?.sessionID

        let check = PasswordCheck(
            of: subject, provider: configured.name, from: client, in: application, opaque: tokens.opaque,
            hasher: hasher, store: store)
        try hasher.requireCapacity(for: check.requester)
        let opened = try await retryingOnConflict { [session] in
            let state = try await check.unlockedState()
            let match = try await check.match(password, against: [state.hash, state.registration].compactMap { $0 })
            guard match.hash == state.hash, let identity = state.identity else {
                try await check.unlockedState()
                throw AccountsError.unverifiedIdentity
            }
            guard principal == nil || principal?.uid == identity.uid else {
                throw AccountsError.foreignProof(LinkingRule.reauthenticationForeign.refusal)
            }
            try await permit(identity, opening: session, mode: configured.mode, check: check)
            let hash =
                state.registration == nil
                ? try await upToDate(match, password: password, of: identity, for: check.requester, in: application)
                : match.hash
            var opened = try await store.openSession(
                session, identity: identity, password: PasswordPermission(hash: hash, attempts: check.attempts))
            opened.shouldChangePassword = state.mustChange
            return opened
        }
        return try await tokens.signedIn(opened, refreshToken: session.refreshToken, in: application)
    }

    /// Throws the refusal of the linking rules, if any, or `identityTemporarilyLocked` as for a wrong password.
    private func permit(
        _ identity: KnownIdentity, opening session: NewSession, mode: ProviderMode, check: PasswordCheck
    ) async throws {
        let application = session.application
        var identity = identity
        if identity.isQuarantined {
            identity.needsOtherSignIn = application.providers.canSignIn(
                withAnyOf: try await store.identities(of: identity.uid, application: application.id))
        }
        let policy = LinkingPolicy(mode: mode, automatic: .never)
        let verdict = decide(session.evidence, state: LinkingState(identity: identity), policy: policy)
        if case .signIn = verdict.outcome { return }
        try await check.unlockedState()
        let refused = try await RefusalWriter(session: session, tokens: tokens, store: store).write(verdict)
        _ = try await tokens.signedIn(refused, in: application)
    }

    /// Hashes an outdated password again with the configured parameters.
    ///
    /// If the queue is full, the old hash remains until the next sign-in.
    ///
    /// Must not be called while a decoy (`NewRegistration.isDecoy`) shares the old hash's salt: one run of the function
    /// could then no longer check the decoy too.
    private func upToDate(
        _ match: PasswordMatch, password: String, of identity: KnownIdentity, for requester: HashingRequester,
        in application: Application
    ) async throws -> PasswordHash {
        guard match.isOutdated, let renewed = try? await hasher.hash(password, sharingSaltOf: nil, for: requester)
        else { return match.hash }
        try await store.rehash(match.hash, to: renewed, of: identity.id, application: application.id)
        return renewed
    }
}

extension OpaqueTokens {
    func attemptKey(provider: String, subject: PasswordSubject) -> AttemptKey {
        attemptKey(provider: provider, providerUid: subject.providerUid)
    }

    func attemptKey(provider: String, providerUid: String) -> AttemptKey {
        AttemptKey(bytes: pseudonym(of: "\(provider)|\(providerUid)", purpose: "password attempts"))
    }
}
