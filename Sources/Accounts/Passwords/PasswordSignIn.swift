internal import ProviderKit

/// Signing in with a password.
package struct PasswordSignIn: Sendable {
    private let store: any AccountsStore
    private let hasher: any PasswordHashing
    private let tokens: SessionTokens

    package init(store: any AccountsStore, hasher: any PasswordHashing, tokens: SessionTokens) {
        self.store = store
        self.hasher = hasher
        self.tokens = tokens
    }

    /// Costs one hash whether the subject is known, unknown, awaiting verification or deleted; whatever else is true of
    /// the account is said only after the right password.
    package func signIn(
        typed: String, password: String, from client: Client, in application: Application
    ) async throws -> SignedIn {
        let (configured, provider) = try application.providers.passwordProvider()
        let subject = try provider.subject(typed: typed)
        let attempts = tokens.opaque.attemptKey(provider: configured.name, subject: subject)
        let session = tokens.newSession(methods: ["pwd"], client: client, in: application)
        let evidence = VerifiedIdentity(providerUid: subject.providerUid, methods: session.methods)
        let opening = SessionOpening(
            session: session, evidence: evidence, provider: configured.name, application: application.id)

        let opened = try await decidingAgain {
            let state = try await store.passwordState(
                of: subject, provider: configured.name, attempts: attempts, application: application.id)
            try refuseLocked(state)
            let match = try await match(password, state: state, attempts: attempts, in: application)
            guard match.hash == state.hash, let identity = state.identity else {
                throw AccountsError.unverifiedIdentity
            }
            try await permit(identity, opening: opening, mode: configured.mode)
            let hash = try await upToDate(match, password: password, of: identity, in: application)
            var opened = try await store.openSession(
                opening, identity: identity, password: PasswordPermission(hash: hash, attempts: attempts))
            opened.shouldChangePassword = state.mustChange
            return opened
        }
        return try await tokens.signedIn(opened, refreshToken: session.refreshToken, in: application)
    }

    private func refuseLocked(_ state: PasswordState) throws {
        if let lockedFor = state.lockedFor {
            throw AccountsError.identityTemporarilyLocked(retryAfter: lockedFor)
        }
    }

    /// - Throws: `AccountsError.invalidCredentials`, having counted the failure.
    private func match(
        _ password: String, state: PasswordState, attempts: AttemptKey, in application: Application
    ) async throws -> PasswordMatch {
        let hashes = [state.hash, state.registration].compactMap { $0 }
        guard let match = try await hasher.match(password, against: hashes) else {
            try await store.recordFailure(attempts, application: application.id)
            throw AccountsError.invalidCredentials
        }
        return match
    }

    private func permit(_ identity: KnownIdentity, opening: SessionOpening, mode: ProviderMode) async throws {
        let policy = LinkingPolicy(mode: mode, automatic: .never)
        switch decide(opening.evidence, state: LinkingState(identity: identity), policy: policy) {
        case .signIn:
            return
        case .deleted(let uid, let purgeAfter):
            let token = tokens.opaque.make()
            try await store.issue(.restore(token, of: uid, by: opening), application: opening.application)
            throw AccountsError.accountDeleted(purgeAfter: purgeAfter, restoreToken: token.text)
        case .disabled:
            throw AccountsError.accountDisabled
        case .refuse(let refusal):
            throw AccountsError.providerDisabled(refusal)
        case .join, .create:
            throw StoreConflict()
        }
    }

    /// Hashes anew with the parameters in force; the old hash keeps working until that is written.
    private func upToDate(
        _ match: PasswordMatch, password: String, of identity: KnownIdentity, in application: Application
    ) async throws -> PasswordHash {
        guard match.isOutdated else { return match.hash }
        let renewed = try await hasher.hash(password, sharingSaltOf: nil)
        try await store.rehash(match.hash, to: renewed, of: identity.id, application: application.id)
        return renewed
    }
}

extension OpaqueTokens {
    func attemptKey(provider: String, subject: PasswordSubject) -> AttemptKey {
        AttemptKey(bytes: pseudonym(of: "\(provider)|\(subject.providerUid)", purpose: "password attempts"))
    }
}
