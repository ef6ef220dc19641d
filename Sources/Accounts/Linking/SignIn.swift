internal import Foundation
package import ProviderKit

/// Turns evidence into a session: load, decide, write; again where the rows moved on in between.
package struct SignIn: Sendable {
    private let store: any TransactionalStore
    private let tokens: SessionTokens
    private let writer: VerdictWriter

    package init(store: any TransactionalStore, tokens: SessionTokens) {
        self.store = store
        self.tokens = tokens
        writer = VerdictWriter(tokens: tokens)
    }

    package func signIn(
        with evidence: VerifiedIdentity, of provider: ConfiguredProvider, from client: Client,
        in application: Application
    ) async throws -> SignedIn {
        let session = tokens.newSession(methods: evidence.methods, client: client, in: application)
        let opening = SessionOpening(
            session: session, evidence: try evidence.checked(), provider: provider.name, application: application.id)
        let outcome = try await retryingOnConflict {
            let verdict = try await verdict(on: evidence, of: provider, in: application, store: store)
            // One statement needs no transaction, and most sign-ins are one; nor must what a refusal wrote be undone.
            guard verdict.isSuccess, !verdict.isOneStatement || evidence.writesBesideSession else {
                return try await write(verdict, opening, by: provider, in: application, store: store)
            }
            return try await store.transaction { store in
                try await write(
                    lockedVerdict(on: evidence, of: provider, in: application, store: store), opening, by: provider,
                    in: application, store: store)
            }
        }
        return try await finish(outcome, in: application)
    }

    /// The same inside a transaction of the caller's; a conflict there is the whole transaction's.
    func open(
        _ session: NewSession, with evidence: VerifiedIdentity, of provider: ConfiguredProvider,
        in application: Application, store: any AccountsStore
    ) async throws -> SignInOutcome {
        let verdict = try await lockedVerdict(on: evidence, of: provider, in: application, store: store)
        let opening = SessionOpening(
            session: session, evidence: evidence, provider: provider.name, application: application.id)
        return try await write(verdict, opening, by: provider, in: application, store: store)
    }

    func verdict(
        on evidence: VerifiedIdentity, of provider: ConfiguredProvider, in application: Application,
        store: any AccountsStore
    ) async throws -> LinkingVerdict {
        decide(
            evidence, state: try await store.facts(about: evidence, of: provider, in: application),
            policy: LinkingPolicy(provider, in: application))
    }

    /// The same with the accounts locked that it changes beside opening a session.
    func lockedVerdict(
        on evidence: VerifiedIdentity, of provider: ConfiguredProvider, in application: Application,
        store: any AccountsStore
    ) async throws -> LinkingVerdict {
        let verdict = try await verdict(on: evidence, of: provider, in: application, store: store)
        guard let changed = verdict.changedAccount else { return verdict }
        _ = try await store.lockAccount(changed, application: application.id)
        let again = try await self.verdict(on: evidence, of: provider, in: application, store: store)
        guard again.changedAccount == changed else { throw StoreConflict() }
        return again
    }

    func write(
        _ verdict: LinkingVerdict, _ opening: SessionOpening, by provider: ConfiguredProvider,
        in application: Application, store: any AccountsStore
    ) async throws -> SignInOutcome {
        try await writer.write(verdict, opening, by: provider, in: application, store: store)
    }

    func finish(_ outcome: SignInOutcome, in application: Application) async throws -> SignedIn {
        switch outcome {
        case .opened(let opened, let refreshToken):
            return try await tokens.signedIn(opened, refreshToken: refreshToken, in: application)
        case .deleted(let account):
            throw account.error
        case .conflict(let ticket, let refusal):
            throw AccountsError.identityInUse(mergeToken: ticket?.text, refusal)
        case .secondProof(let ticket, let refusal):
            throw AccountsError.secondProofRequired(ticket: ticket.text, refusal)
        }
    }
}
