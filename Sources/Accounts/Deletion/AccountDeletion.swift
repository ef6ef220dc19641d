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

    /// Restores an account, with the new password if a password reset issued the token.
    ///
    /// The token is consumed in any case, unless the account cannot get the identity that the new password is for.
    /// - Throws: `AccountsError.invalidToken`, `.accountDisabled`, `.limitReached`, `.providerDisabled`.
    package func restore(with text: String, from client: Client, in application: Application) async throws -> SignedIn {
        guard let token = tokens.opaque.parse(text) else { throw AccountsError.invalidToken }
        let outcome: SignInOutcome
        do {
            outcome = try await store.retryingTransactionKeepingRefusals { store in
                try await restore(token, from: client, in: application, store: store)
            }
        } catch let late as LateRefusal {
            throw late.refusal
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    /// A refusal after the first writes, which undoes them.
    private struct LateRefusal: Error {
        let refusal: AccountsError
    }

    private func restore(
        _ token: OpaqueToken, from client: Client, in application: Application, store: any Store
    ) async throws -> SignInOutcome {
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
        guard case .deleted? = status,
            let deletion = try await AccountRestoration(store: store, application: application).restore(uid)
        else { throw AccountsError.invalidToken }
        do {
            try await setPassword(of: proof, from: client, in: application, store: store)
        } catch let refusal as AccountsError where refusal.isRefusal {
            throw LateRefusal(refusal: refusal)
        }

        // The proof may concern an address that the account owns instead of one of its identities.
        let identities = try await store.identities(of: uid, application: application.id)
        return try await SessionContinuation(store: store, tokens: tokens).open(
            uid, among: identities, continuing: deletion.session, methods: proof.methods, from: client,
            in: application, by: proof.isOf)
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
