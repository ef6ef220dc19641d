package import Foundation
internal import ProviderKit

/// Deletes accounts after a grace period in which they can be restored.
package struct AccountDeletion: Sendable {
    typealias Store = DeletionScheduling.Store & AccountLocks & ErasureStatusStore & PasswordReplacement.Store
        & SessionContinuation.Store

    let store: any TransactionalStore & Store
    let tokens: SessionTokens
    let replacement: PasswordReplacement

    /// Ends all sessions and starts the grace period.
    ///
    /// An administrator's account is deleted only in a session in which the role counts: another identity of the account
    /// may be somebody else's.
    /// - Returns: the receipt that the client presents to read the status of the deletion.
    package func request(by principal: Principal) async throws -> UUID {
        let receipt = UUID()
        try await store.retryingTransaction { store in
            // A session that has ended since the request began must not delete the account.
            guard try await store.lock(principal) else { throw AccountsError.invalidToken }
            try await store.requireReach(of: principal)
            try await DeletionScheduling(store: store, application: principal.application)
                .schedule(principal.uid, by: .owner, session: principal.sessionID, receipt: receipt)
        }
        return receipt
    }

    /// Restores an account, with the new password if a password reset issued the token, which is consumed in any case.
    /// - Throws: `AccountsError.invalidToken`, `.accountDisabled`, `.limitReached`.
    package func restore(with text: String, from client: Client, in application: Application) async throws -> SignedIn {
        guard let token = tokens.opaque.parse(text) else { throw AccountsError.invalidToken }
        let outcome = try await store.retryingTransactionKeepingRefusals { store in
            guard let proof = try await store.consume(.restore, hash: token.hash, application: application.id),
                let uid = proof.uid
            else { throw AccountsError.invalidToken }
            let status = try await store.lockAccount(uid, application: application.id)
            if case .disabled? = status {
                let rule = LinkingRule.accountDisabled
                let entry = AuditEntry(
                    .signInRefused, of: uid,
                    details: ["provider": .string(proof.provider), "rule": .string(rule.rawValue)])
                try await store.record(entry, application: application.id)
                throw AccountsError.accountDisabled(rule.refusal)
            }
            // This check must precede all writes, since `retryingTransactionKeepingRefusals` also commits on a refusal.
            try await requireRoom(forPasswordOf: proof, in: application, store: store)
            guard case .deleted? = status,
                let deletion = try await AccountRestoration(store: store, application: application).restore(uid)
            else { throw AccountsError.invalidToken }
            try await setPassword(of: proof, from: client, in: application, store: store)

            // The proof may concern an address that the account owns instead of one of its identities.
            let identities = try await store.identities(of: uid, application: application.id)
            return try await SessionContinuation(store: store, tokens: tokens).open(
                uid, among: identities, continuing: deletion.session, methods: proof.methods, from: client,
                in: application, by: proof.isOf)
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    /// Checks that the account can get the identity of a password reset, if the proof comes from one.
    private func requireRoom(forPasswordOf proof: Proof, in application: Application, store: any Store) async throws {
        guard proof.password != nil, let subject = proof.subject else { return }
        let provider = try application.providers.named(proof.provider)
        let state = try await LinkingFacts(store: store, application: application)
            .read(subject.evidence, of: provider).state
        guard state.identity != nil || !state.owners.contains(where: \.isFull) else {
            throw AccountsError.limitReached(
                limit: application.policy.maximumIdentities, LinkingRule.accountFull.refusal)
        }
    }

    /// Sets the password of a restored account if the proof comes from a password reset.
    private func setPassword(
        of proof: Proof, from client: Client, in application: Application, store: any Store
    ) async throws {
        guard let password = proof.password, let subject = proof.subject else { return }
        // Replacing the password ends the other sessions and this one.
        let session = tokens.newSession(by: subject.evidence, of: proof.provider, from: client, in: application)
        guard try await replacement.replace(by: session, of: subject, with: password, store: store) == nil
        else { throw StoreConflict() }
    }

    /// - Throws: `AccountsError.receiptNotFound`.
    package func status(of receipt: UUID, in application: Application) async throws -> ErasureStatus {
        guard let status = try await store.erasure(receipt: receipt, application: application.id) else {
            throw AccountsError.receiptNotFound
        }
        return status
    }
}
