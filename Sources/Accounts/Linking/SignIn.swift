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
        let session = tokens.newSession(by: try evidence.checked(), of: provider.name, from: client, in: application)
        let outcome = try await retryingOnConflict {
            let verdict = try await verdict(on: session.evidence, of: provider, in: application, store: store)
            // Most sign-ins are one statement and need no transaction. Nor do refusals, whose writes must persist.
            guard verdict.isSuccess, !verdict.isOneStatement || evidence.writesBesideSession else {
                return try await VerdictWriter(session: session, tokens: tokens, store: store).write(verdict)
            }
            return try await store.transaction { store in try await open(session, of: provider, store: store) }
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    /// Signs in within the current transaction; a `StoreConflict` ends the whole transaction.
    func open(_ session: NewSession, of provider: ConfiguredProvider, store: any Store) async throws -> SignInOutcome {
        let verdict = try await lockedVerdict(on: session.evidence, of: provider, in: session.application, store: store)
        return try await VerdictWriter(session: session, tokens: tokens, store: store).write(verdict)
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

    /// Decides, locks the account that the verdict changes, if any, and then decides again.
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
}

/// The result of a sign-in: a session, or a refusal, which is returned so that the transaction commits its ticket.
enum SignInOutcome: Sendable {
    case opened(OpenedSession, refreshToken: OpaqueToken)
    case refused(AccountsError)
}

extension SessionTokens {
    /// Makes the tokens of an opened session, after the transaction that opened it.
    /// - Throws: the error of a refusal.
    func signedIn(_ outcome: SignInOutcome, in application: Application) async throws -> SignedIn {
        switch outcome {
        case .opened(let opened, let refreshToken):
            try await signedIn(opened, refreshToken: refreshToken, in: application)
        case .refused(let refusal): throw refusal
        }
    }
}
