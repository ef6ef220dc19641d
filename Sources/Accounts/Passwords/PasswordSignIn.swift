internal import Foundation
internal import ProviderKit

package struct PasswordSignIn: Sendable {
    typealias Store = PasswordAttemptStore & PasswordRehashStore & IdentityStore & SessionOpeningStore
        & RefusalWriter.Store & AccountLocks & AccountRestoration.Store & OwnerContactStore & MessageOutbox

    let store: any TransactionalStore & Store
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
            let permitted = try await permit(
                state, identity, opening: session, mode: configured.mode, mayRestore: principal == nil, check: check)
            let hash =
                state.registration == nil
                ? try await upToDate(match, password: password, of: identity, for: check.requester, in: application)
                : match.hash
            let permission = PasswordPermission(hash: hash, attempts: check.attempts)
            var opened =
                identity.status == permitted.status
                ? try await store.open(session, identity: permitted, password: permission)
                : try await restore(permitted, opening: session, password: permission)
            opened.shouldChangePassword = state.mustChange
            return opened
        }
        return try await tokens.signedIn(opened, secret: session.secret, in: application)
    }

    /// Restores the account and opens the session in one transaction, so that neither happens without the other.
    /// - Throws: `AccountsError.accountDeleted` if the erasure has begun.
    private func restore(
        _ identity: KnownIdentity, opening session: NewSession, password: PasswordPermission
    ) async throws -> OpenedSession {
        let application = session.application
        return try await store.transaction { store in
            switch try await store.lockAccount(identity.uid, application: application.id) {
            // Another sign-in was faster.
            case .live?: break
            case .deleted(let purgeAfter)?:
                let restoration = AccountRestoration(store: store, application: application)
                guard try await restoration.restore(identity.uid) != nil else {
                    throw AccountsError.accountDeleted(
                        purgeAfter: purgeAfter, restoreToken: nil, LinkingRule.accountDeleted.refusalWithoutTicket)
                }
            case .disabled?, .absorbed?, nil: throw StoreConflict()
            }
            return try await store.open(session, identity: identity, password: password)
        }
    }

    /// Throws the refusal of the linking rules, if any, or `identityTemporarilyLocked` as for a wrong password.
    /// - Returns: the identity as it is when the session opens, of a live account that may have to be restored before.
    private func permit(
        _ state: PasswordState, _ identity: KnownIdentity, opening session: NewSession, mode: ProviderMode,
        mayRestore: Bool, check: PasswordCheck
    ) async throws -> KnownIdentity {
        let application = session.application
        var identity = identity
        if identity.isQuarantined {
            identity.needsOtherSignIn = application.providers.canSignIn(
                withAnyOf: try await store.identities(of: identity.uid, application: application.id))
        }
        var policy = LinkingPolicy(mode: mode, automatic: .never)
        policy.restoresOnSignIn = mayRestore && application.policy.restoresOnSignIn
        let verdict = decide(session.evidence, state: LinkingState(identity: identity), policy: policy)
        switch verdict.outcome {
        case .signIn(.known(let identity)), .restore(by: .known(let identity), _): return identity
        default: break
        }
        let refused = try await write(verdict, on: state, of: identity.uid, opening: session, check: check)
        _ = try await tokens.signedIn(refused, in: application)
        throw StoreConflict()
    }

    /// Writes a refusal.
    ///
    /// If it issues a ticket or token, the account is locked, and its password must still be the one that was checked:
    /// otherwise a ticket could outlive a password reset that has finished during the hashing.
    private func write(
        _ refusal: LinkingVerdict, on state: PasswordState, of uid: UUID, opening session: NewSession,
        check: PasswordCheck
    ) async throws -> SignInOutcome {
        guard refusal.issuesProof else {
            try await check.unlockedState()
            return try await RefusalWriter(session: session, tokens: tokens, store: store).write(refusal)
        }
        return try await store.transaction { store in
            _ = try await store.lockAccount(uid, application: session.application.id)
            let current = try await check.unlockedState(in: store)
            guard current.hash == state.hash, current.identity == state.identity else { throw StoreConflict() }
            return try await RefusalWriter(session: session, tokens: tokens, store: store).write(refusal)
        }
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

    package func attemptKey(provider: String, providerUid: String) -> AttemptKey {
        AttemptKey(bytes: pseudonym(of: "\(provider)|\(providerUid)", purpose: "password attempts"))
    }
}
