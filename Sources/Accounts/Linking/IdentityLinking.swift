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
    /// case `onConflict` decides what happens to the guest.
    /// - Throws: `AccountsError.identityInUse`, and the errors of a sign-in.
    package func link(
        _ proof: PresentedProof, of provider: ConfiguredProvider, onConflict: ConflictChoice, by principal: Principal,
        from client: Client
    ) async throws -> SignedIn {
        let application = principal.application
        let outcome = try await store.retryingTransactionKeepingRefusals { store in
            let use: FlowUse = principal.successor == nil ? .link(principal.sessionID) : .anything(principal.sessionID)
            let evidence = try await accept(proof, of: provider, for: use, from: client, in: application, store: store)
            return try await link(
                evidence, of: provider, onConflict: onConflict, by: principal, from: client, store: store)
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    /// Links in the current transaction.
    func link(
        _ evidence: VerifiedIdentity, of provider: ConfiguredProvider, onConflict: ConflictChoice,
        by principal: Principal, from client: Client, store: any Store
    ) async throws -> SignInOutcome {
        let application = principal.application
        let policy = LinkingPolicy(provider, in: application, onConflict: onConflict)
        let session = newSession(by: evidence, of: provider, resuming: principal, from: client)
        if let successor = principal.successor {
            return try await repeatLink(session, of: provider, to: successor, for: principal, store: store)
        }
        let facts = LinkingFacts(store: store, application: application)
        guard let state = try await facts.lockedState(for: evidence, of: provider, requestedBy: principal) else {
            // If the client sent the call twice, the other call has just switched the guest to its new account.
            guard let successor = try await store.successor(ofGuest: principal.sessionID, application: application.id)
            else { throw AccountsError.invalidToken }
            return try await repeatLink(session, of: provider, to: successor, for: principal, store: store)
        }
        let verdict = decide(evidence, state: state, policy: policy)
        return try await writer(session.after(verdict, by: principal), for: principal, store: store).write(verdict)
    }

    /// Opens a session for a fresh proof of one of the account's own identities.
    /// - Throws: `AccountsError.foreignProof`; `AccountsError.tokenTooOld` if the person authenticated too long ago;
    ///   and the errors of a sign-in.
    package func reauthenticate(
        with proof: PresentedProof, of provider: ConfiguredProvider, by principal: Principal, from client: Client
    ) async throws -> SignedIn {
        let application = principal.application
        let outcome = try await store.retryingTransactionKeepingRefusals { store in
            var evidence = try await accept(
                proof, of: provider, for: .reauthentication(principal.sessionID), from: client, in: application,
                store: store)
            // A token that may sign in repeatedly may still re-authenticate only once.
            evidence.singleUse = evidence.singleUse ?? evidence.singleReauthentication
            let facts = LinkingFacts(store: store, application: application)
            guard let requester = try await facts.lockedRequester(principal) else { throw AccountsError.invalidToken }
            let state = try await facts.state(for: evidence, of: provider, requester: requester)
            let verdict = decideReauthentication(
                evidence, state: state, policy: LinkingPolicy(provider, in: application))
            if verdict.rule == .reauthenticationForeign { throw AccountsError.foreignProof(verdict.refusal) }
            var session = newSession(by: evidence, of: provider, resuming: principal, from: client)
            session.authenticatedAt = try authenticationTime(of: evidence, by: proof, in: application)
            return try await writer(session, for: principal, store: store).write(verdict)
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    /// Returns when the person authenticated to the provider; `nil` for a proof that was made for this request.
    /// - Throws: `AccountsError.tokenTooOld`; `AccountsError.invalidToken` if a redirect's provider states no time.
    private func authenticationTime(
        of evidence: VerifiedIdentity, by proof: PresentedProof, in application: Application
    ) throws -> Date? {
        switch proof {
        case .oneTimeCode: return nil
        case .redirectCode:
            guard let time = evidence.authenticatedAt else { throw AccountsError.invalidToken }
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
        store: any Store
    ) async throws -> SignInOutcome {
        let verdict = try await signIn.verdict(
            on: session.evidence, of: provider, in: principal.application, store: store)
        guard case .signIn(let match) = verdict.outcome, match.uid == successor else {
            throw AccountsError.invalidToken
        }
        var session = session
        session.resumes = nil
        return try await writer(session, for: principal, store: store).write(verdict)
    }

    private func accept(
        _ proof: PresentedProof, of provider: ConfiguredProvider, for use: FlowUse, from client: Client,
        in application: Application, store: any Store
    ) async throws -> VerifiedIdentity {
        switch proof {
        case .evidence(let evidence): return try evidence.checked()
        case .oneTimeCode(let presented):
            return try await codes.prove(
                presented, with: provider, session: use.session, from: client, in: application, store: store)
        case .redirectCode(let presented):
            let flow = try await redemption.accept(presented, for: use, in: application, store: store)
            guard flow.provider == provider.name else { throw AccountsError.invalidToken }
            return flow.evidence
        }
    }

    private func writer(_ session: NewSession, for principal: Principal, store: any Store) -> LinkWriter {
        LinkWriter(session: session, principal: principal, tokens: tokens, store: store)
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
    fileprivate func after(_ verdict: LinkingVerdict, by principal: Principal) -> NewSession {
        var session = self
        switch verdict.outcome {
        case .link: session.resumes = nil
        case .replaceGuest(_, let isAbsorbed):
            session.resumes = nil
            session.continues = isAbsorbed ? principal.sessionID : nil
        default: break
        }
        return session
    }
}
