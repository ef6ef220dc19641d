internal import Foundation
package import ProviderKit

/// A proof as a request presents it.
package enum PresentedProof: Sendable {
    /// Evidence that a provider has verified.
    case evidence(VerifiedIdentity)
    /// A code that is checked in the transaction that uses it.
    case oneTimeCode(PresentedOneTimeCode)
    case redirectCode(PresentedCode)
}

/// Links identities to a signed-in account, and re-authenticates its owner.
package struct IdentityLinking: Sendable {
    typealias Store = SignIn.Store & LinkWriter.Store & OneTimeCodes.ProvingStore & CodeRedemption.AcceptingStore

    let store: any TransactionalStore & Store
    let signIn: SignIn
    let tokens: SessionTokens
    let codes: OneTimeCodes
    let redemption: CodeRedemption

    /// Links the proved identity to the principal's account.
    ///
    /// If the principal is a guest, its account becomes permanent, unless the identity already has an account. In that
    /// case `onConflict` decides what happens to the guest. With `admittingSignIns`, a redirect flow that was begun to
    /// sign in may be linked instead.
    /// - Throws: `AccountsError.identityInUse`, and the errors of a sign-in.
    package func link(
        _ proof: PresentedProof, of provider: ConfiguredProvider, onConflict: ConflictChoice, by principal: Principal,
        from client: Client, admittingSignIns: Bool = false
    ) async throws -> SignedIn {
        let application = principal.application
        let use: FlowUse =
            principal.successor == nil && !admittingSignIns
            ? .link(principal.sessionID) : .anything(principal.sessionID)
        let outcome = try await accepting(proof, of: provider, for: use, from: client, in: application) {
            try await link($0, of: provider, onConflict: onConflict, by: principal, from: $1, store: $2)
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    /// Links in the current transaction, or else in one of its own.
    ///
    /// The decision is made on what one statement reads without locks. The transaction then locks the accounts, checks
    /// that nothing has changed that matters, and writes, all in one round trip.
    func link(
        _ evidence: VerifiedIdentity, of provider: ConfiguredProvider, onConflict: ConflictChoice,
        by principal: Principal, from client: Client, store: any TransactionalStore & Store
    ) async throws -> SignInOutcome {
        let application = principal.application
        let policy = LinkingPolicy(provider, in: application, onConflict: onConflict)
        let session = newSession(by: evidence, of: provider, resuming: principal, from: client)
        if let successor = principal.successor {
            return try await repeatLink(session, of: provider, to: successor, for: principal, store: store)
        }
        let reading = try await LinkingFacts(store: store, application: application)
            .read(evidence, of: provider, requestedBy: principal)
        guard reading.state.requester != nil else {
            // If the client sent the call twice, the other call has just switched the guest to its new account.
            guard let successor = try await store.successor(ofGuest: principal.sessionID, application: application.id)
            else { throw AccountsError.invalidToken }
            return try await repeatLink(session, of: provider, to: successor, for: principal, store: store)
        }
        let verdict = decide(evidence, state: reading.state, policy: policy)
        return try await carryOut(
            verdict, on: reading, opening: session.after(verdict, on: reading, by: principal), of: provider,
            for: principal, store: store)
    }

    /// Opens a session for a fresh proof of one of the account's own identities.
    ///
    /// With `leavingForeign`, the proof of another account's identity remains valid, so that it can sign in.
    /// - Throws: `AccountsError.foreignProof`; `AccountsError.tokenTooOld` if the person authenticated too long ago;
    ///   the errors of a sign-in; `ForeignIdentity` only with `leavingForeign`.
    package func reauthenticate(
        with proof: PresentedProof, of provider: ConfiguredProvider, by principal: Principal, from client: Client,
        leavingForeign: Bool = false
    ) async throws -> SignedIn {
        let application = principal.application
        let use = FlowUse.reauthentication(principal.sessionID)
        let outcome = try await accepting(proof, of: provider, for: use, from: client, in: application) {
            accepted, client, store in
            var evidence = accepted
            // A token that may sign in repeatedly may still re-authenticate only once.
            evidence.singleUse = evidence.singleUse ?? evidence.singleReauthentication
            let reading = try await LinkingFacts(store: store, application: application)
                .read(evidence, of: provider, requestedBy: principal)
            guard reading.state.requester != nil else { throw AccountsError.invalidToken }
            let verdict = decideReauthentication(
                evidence, state: reading.state, policy: LinkingPolicy(provider, in: application))
            if verdict.rule == .reauthenticationForeign {
                guard leavingForeign, reading.state.identity != nil else {
                    throw AccountsError.foreignProof(verdict.refusal)
                }
                throw ForeignIdentity()
            }
            var session = newSession(by: evidence, of: provider, resuming: principal, from: client)
            session.authenticatedAt = try authenticationTime(of: evidence, by: proof, in: application)
            return try await carryOut(
                verdict, on: reading, opening: session, of: provider, for: principal, store: store)
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    /// Writes a verdict.
    ///
    /// A success, and a refusal that issues a ticket or token, are written in a transaction that locks the accounts and
    /// checks that they are as they were read. Otherwise a ticket could outlive a password reset at the same moment.
    ///
    /// The check is left out for a link of an identity that no account has, and whose addresses no account has, to an
    /// account that is not a guest's. The statement that adds the identity then checks the account and the session, and
    /// fails on a unique constraint if another account has got the identity or an address in the meantime.
    private func carryOut(
        _ verdict: LinkingVerdict, on reading: LinkingReading, opening session: NewSession,
        of provider: ConfiguredProvider, for principal: Principal, store: any TransactionalStore & Store
    ) async throws -> SignInOutcome {
        guard verdict.isSuccess || verdict.issuesProof else {
            return try await writer(session, reading, for: principal, store: store).write(verdict)
        }
        return try await store.transaction { store in
            let application = principal.application
            try await store.lock(
                reading.state.accounts.union([principal.uid]), session: principal.sessionID,
                application: application.id)
            if session.linkingSession == nil {
                try await LinkingFacts(store: store, application: application)
                    .check(reading, for: session.evidence, of: provider, requestedBy: principal)
            }
            return try await writer(session, reading, for: principal, store: store).write(verdict)
        }
    }

    /// Returns when the person authenticated to the provider; `nil` for a proof that was made for this request.
    /// - Throws: `AccountsError.tokenTooOld`; `AccountsError.untimedProof` if a redirect's provider states no time.
    private func authenticationTime(
        of evidence: VerifiedIdentity, by proof: PresentedProof, in application: Application
    ) throws -> Date? {
        switch proof {
        case .oneTimeCode: return nil
        case .redirectCode:
            guard let time = evidence.authenticatedAt else { throw AccountsError.untimedProof(.noAuthenticationTime) }
            return time
        case .evidence:
            guard let time = evidence.authenticatedAt else { return nil }
            guard application.policy.isRecent(time, now: tokens.time.now()) else { throw AccountsError.tokenTooOld }
            return time
        }
    }

    /// Repeats the response for a guest that was switched to another account and may not have received the response.
    private func repeatLink(
        _ session: NewSession, of provider: ConfiguredProvider, to successor: UUID, for principal: Principal,
        store: any TransactionalStore & Store
    ) async throws -> SignInOutcome {
        let decision = try await signIn.decision(
            on: session.evidence, of: provider, in: principal.application, store: store)
        guard case .signIn(let match) = decision.verdict.outcome, match.uid == successor else {
            throw AccountsError.invalidToken
        }
        var repeated = session
        repeated.resumes = nil
        return try await store.transaction { [repeated] store in
            try await signIn.carryOut(decision, opening: repeated, of: provider, store: store)
        }
    }

    /// Runs `body` with the evidence of a proof and the client whose session it opens, and repeats both after a
    /// `StoreConflict`.
    ///
    /// A code is accepted in the transaction that uses it, which also commits a refusal, so that the attempt is counted
    /// and the code remains consumed.
    private func accepting(
        _ proof: PresentedProof, of provider: ConfiguredProvider, for use: FlowUse, from client: Client,
        in application: Application,
        _ body: @Sendable (VerifiedIdentity, Client, any TransactionalStore & Store) async throws -> SignInOutcome
    ) async throws -> SignInOutcome {
        if case .evidence(let evidence) = proof {
            let checked = try evidence.checked()
            return try await retryingOnConflict { try await body(checked, client, store) }
        }
        return try await store.retryingTransactionKeepingRefusals { store in
            let (evidence, client) = try await accept(
                proof, of: provider, for: use, from: client, in: application, store: store)
            let outcome = try await body(evidence, client, store)
            try await redemption.note(outcome, of: proof, in: application, store: store)
            return outcome
        }
    }

    /// Checks a proof in the current transaction, which also consumes its code.
    /// - Returns: the evidence, and the client whose session it opens.
    func accept(
        _ proof: PresentedProof, of provider: ConfiguredProvider, for use: FlowUse, from client: Client,
        in application: Application, store: any Store
    ) async throws -> (VerifiedIdentity, Client) {
        switch proof {
        case .evidence(let evidence): return (try evidence.checked(), client)
        case .oneTimeCode(let presented):
            let evidence = try await codes.prove(
                presented, with: provider, session: use.session, from: client, in: application, store: store)
            return (evidence, client)
        case .redirectCode(let presented):
            let flow = try await redemption.accept(presented, for: use, in: application, store: store)
            guard flow.provider == provider.name else { throw AccountsError.invalidToken }
            return (flow.evidence, client.opening(flow.destination))
        }
    }

    private func writer(
        _ session: NewSession, _ reading: LinkingReading, for principal: Principal, store: any Store
    ) -> LinkWriter {
        LinkWriter(
            session: session, principal: principal, contacts: reading.contacts, tokens: tokens, store: store)
    }

    private func newSession(
        by evidence: VerifiedIdentity, of provider: ConfiguredProvider, resuming principal: Principal,
        from client: Client
    ) -> NewSession {
        var session = tokens.newSession(by: evidence, of: provider.name, from: client, in: principal.application)
        session.resumes = principal.sessionID
        return session
    }
}

extension NewSession {
    /// Clears `resumes` after a link, whose session replaces none, and sets `continues` after a merge.
    fileprivate func after(
        _ verdict: LinkingVerdict, on reading: LinkingReading, by principal: Principal
    ) -> NewSession {
        var session = self
        switch verdict.outcome {
        case .link:
            (session.resumes, session.isOfLink) = (nil, true)
            if reading.state.isUnclaimed, reading.state.requester?.isGuest == false {
                session.linkingSession = principal.sessionID
            }
        case .replaceGuest(_, let isAbsorbed):
            session.resumes = nil
            session.continues = isAbsorbed ? principal.sessionID : nil
        default: break
        }
        return session
    }
}
