internal import Foundation
package import ProviderKit

/// Turns evidence into a session: reads the state, decides, writes, and starts over if the rows changed in between.
package struct SignIn: Sendable {
    typealias Store = LinkingFacts.Store & VerdictWriter.Store

    let store: any TransactionalStore & Store
    let tokens: SessionTokens

    /// - Throws: the errors of the linking rules; `UnknownIdentity` only without `mayOpenAccount`.
    package func signIn(
        with evidence: VerifiedIdentity, of provider: ConfiguredProvider, mayOpenAccount: Bool = true,
        from client: Client, in application: Application
    ) async throws -> SignedIn {
        var session = tokens.newSession(by: try evidence.checked(), of: provider.name, from: client, in: application)
        session.mayOpenAccount = mayOpenAccount
        let outcome = try await retryingOnConflict { [session] in
            let decision = try await decision(
                on: session.evidence, of: provider, restoring: true, in: application, store: store)
            let verdict = decision.verdict
            // Most sign-ins are one statement and need no transaction. A refusal that issues no token must not have one,
            // because it is thrown, and the rollback would remove its record from the audit.
            guard verdict.issuesProof || verdict.isSuccess && (!verdict.isOneStatement || evidence.writesBesideSession)
            else { return try await writer(session, decision, store).write(verdict) }
            return try await store.transaction { store in
                try await carryOut(decision, opening: session, of: provider, store: store)
            }
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    /// Signs in within the current transaction; a `StoreConflict` ends the whole transaction.
    func open(_ session: NewSession, of provider: ConfiguredProvider, store: any Store) async throws -> SignInOutcome {
        let decision = try await decision(
            on: session.evidence, of: provider, restoring: true, in: session.application, store: store)
        return try await carryOut(decision, opening: session, of: provider, store: store)
    }

    /// Decides on evidence without writing; with `restoring`, the application's policy may restore an account.
    func decision(
        on evidence: VerifiedIdentity, of provider: ConfiguredProvider, restoring: Bool = false,
        in application: Application, store: any LinkingFacts.Store
    ) async throws -> SignInDecision {
        let reading = try await LinkingFacts(store: store, application: application).read(evidence, of: provider)
        let policy: LinkingPolicy =
            restoring ? .signIn(provider, in: application) : LinkingPolicy(provider, in: application)
        let verdict = decide(evidence, state: reading.state, policy: policy)
        return SignInDecision(verdict: verdict, reading: reading)
    }

    /// Writes a verdict in the current transaction, after it has locked the account that the verdict changes, if any.
    ///
    /// A refusal that issues a ticket or token locks every account that the evidence leads to. Otherwise a ticket could
    /// outlive a password reset at the same moment.
    func carryOut(
        _ decision: SignInDecision, opening session: NewSession, of provider: ConfiguredProvider, store: any Store
    ) async throws -> SignInOutcome {
        let (verdict, reading) = (decision.verdict, decision.reading)
        let accounts = verdict.issuesProof ? reading.state.accounts : Set([verdict.changedAccount].compactMap(\.self))
        if !accounts.isEmpty {
            try await LinkingFacts(store: store, application: session.application)
                .hold(reading, locking: accounts, for: session.evidence, of: provider)
        }
        return try await writer(session, decision, store).write(verdict)
    }

    private func writer(_ session: NewSession, _ decision: SignInDecision, _ store: any Store) -> VerdictWriter {
        VerdictWriter(session: session, contacts: decision.reading.contacts, tokens: tokens, store: store)
    }
}

/// The identity has no account, and the caller did not ask for a new one; nothing was written.
package struct UnknownIdentity: Error {}

/// The identity has another account than the one that the caller wanted proven again; nothing was written.
package struct ForeignIdentity: Error {}

/// The verdict on a sign-in, and what it was decided on.
struct SignInDecision: Sendable {
    let verdict: LinkingVerdict
    let reading: LinkingReading
}

/// The result of a sign-in: a session, or a refusal, which is returned so that the transaction commits its ticket.
enum SignInOutcome: Sendable {
    case opened(OpenedSession, secret: SessionSecret)
    case refused(AccountsError)
}

extension SessionTokens {
    /// Makes the tokens of an opened session, after the transaction that opened it.
    /// - Throws: the error of a refusal.
    func signedIn(_ outcome: SignInOutcome, in application: Application) async throws -> SignedIn {
        switch outcome {
        case .opened(let opened, let secret):
            try await signedIn(opened, secret: secret, in: application)
        case .refused(let refusal): throw refusal
        }
    }
}
