internal import Foundation
package import ProviderKit

/// Turns evidence into a session: reads the state, decides, writes, and starts over if the rows changed in between.
package struct SignIn: Sendable {
    typealias Store = LinkingFacts.Store & VerdictWriter.Store

    let store: any TransactionalStore & Store
    let tokens: SessionTokens

    package func signIn(
        with evidence: VerifiedIdentity, of provider: ConfiguredProvider, from client: Client,
        in application: Application
    ) async throws -> SignedIn {
        let session = tokens.newSession(methods: evidence.methods, client: client, in: application)
        let evidence = try evidence.checked()
        let outcome = try await retryingOnConflict {
            let verdict = try await verdict(on: evidence, of: provider, in: application, store: store)
            // Most sign-ins are one statement, which needs no transaction. What a refusal writes is never undone.
            guard verdict.isSuccess, !verdict.isOneStatement || evidence.writesBesideSession else {
                return try await writer(session, evidence, provider, in: application, store: store).write(verdict)
            }
            return try await store.transaction { store in
                try await open(session, with: evidence, of: provider, in: application, store: store)
            }
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    /// Signs in as a part of the current transaction.
    ///
    /// A conflict ends the whole transaction.
    func open(
        _ session: NewSession, with evidence: VerifiedIdentity, of provider: ConfiguredProvider,
        in application: Application, store: any Store
    ) async throws -> SignInOutcome {
        let verdict = try await lockedVerdict(on: evidence, of: provider, in: application, store: store)
        return try await writer(session, evidence, provider, in: application, store: store).write(verdict)
    }

    func verdict(
        on evidence: VerifiedIdentity, of provider: ConfiguredProvider, in application: Application,
        store: any LinkingFacts.Store
    ) async throws -> LinkingVerdict {
        decide(
            evidence,
            state: try await LinkingFacts(store: store, application: application).state(for: evidence, of: provider),
            policy: LinkingPolicy(provider, in: application))
    }

    /// Locks the account that the verdict changes, if any, and decides again.
    private func lockedVerdict(
        on evidence: VerifiedIdentity, of provider: ConfiguredProvider, in application: Application,
        store: any LinkingFacts.Store
    ) async throws -> LinkingVerdict {
        let verdict = try await verdict(on: evidence, of: provider, in: application, store: store)
        guard let changed = verdict.changedAccount else { return verdict }
        _ = try await store.lockAccount(changed, application: application.id)
        let again = try await self.verdict(on: evidence, of: provider, in: application, store: store)
        guard again.changedAccount == changed else { throw StoreConflict() }
        return again
    }

    private func writer(
        _ session: NewSession, _ evidence: VerifiedIdentity, _ provider: ConfiguredProvider,
        in application: Application, store: any VerdictWriter.Store
    ) -> VerdictWriter {
        let opening = SessionOpening(
            session: session, evidence: evidence, provider: provider.name, application: application.id)
        return VerdictWriter(
            opening: opening, provider: provider, application: application, tokens: tokens, store: store)
    }
}

/// The result of evidence that the linking rules do not refuse outright.
enum SignInOutcome: Sendable {
    case opened(OpenedSession, refreshToken: OpaqueToken)
    case deleted(AccountInGracePeriod)
    /// The evidence belongs to another account. The ticket, if there is one, merges the two.
    case conflict(ticket: OpaqueToken?, Refusal)
    case secondProof(ticket: OpaqueToken, Refusal)
}

/// The response to valid evidence of an account in its grace period.
struct AccountInGracePeriod: Sendable {
    let purgeAfter: Date
    /// Restores the account; `nil` when the evidence would not sign in to it.
    let restoreToken: OpaqueToken?
    let refusal: Refusal

    var error: AccountsError { .accountDeleted(purgeAfter: purgeAfter, restoreToken: restoreToken?.text, refusal) }
}

extension SessionTokens {
    /// Makes the tokens of an opened session, after the transaction that opened it.
    ///
    /// - Throws: the error of any other outcome.
    func signedIn(_ outcome: SignInOutcome, in application: Application) async throws -> SignedIn {
        switch outcome {
        case .opened(let opened, let refreshToken):
            return try await signedIn(opened, refreshToken: refreshToken, in: application)
        case .deleted(let account):
            throw account.error
        case .conflict(let ticket, let refusal):
            throw AccountsError.identityInUse(mergeToken: ticket?.text, refusal)
        case .secondProof(let ticket, let refusal):
            throw AccountsError.secondProofRequired(ticket: ticket.text, refusal)
        }
    }
}
