package import Foundation
internal import ProviderKit

/// Leaving, and coming back within the grace period.
package struct AccountDeletion: Sendable {
    private let store: any TransactionalStore
    private let signIn: SignIn
    private let tokens: SessionTokens
    private let replacement: PasswordReplacement

    package init(
        store: any TransactionalStore, signIn: SignIn, tokens: SessionTokens, replacement: PasswordReplacement
    ) {
        self.store = store
        self.signIn = signIn
        self.tokens = tokens
        self.replacement = replacement
    }

    /// Ends every session at once and starts the grace period.
    /// - Returns: the receipt under which anybody can ask how far the deletion is.
    package func request(by principal: Principal) async throws -> UUID {
        try await request(principal.uid, by: .owner, session: principal.sessionID, in: principal.application) {
            store, status in
            // Judged again under its lock: a session that has ended meanwhile deletes nothing.
            guard status == .live,
                try await store.lockSession(
                    principal.sessionID, of: principal.uid, application: principal.application.id)
            else { throw AccountsError.invalidToken }
        }
    }

    /// The same by an admin, who may delete a disabled account too.
    package func request(_ uid: UUID, in application: Application) async throws -> UUID {
        try await request(uid, by: .admin, in: application) { _, status in
            guard let status, status.isStaying else { throw AccountsError.accountNotFound(uid) }
        }
    }

    private func request(
        _ uid: UUID, by cause: DeletionCause, session: UUID? = nil, in application: Application,
        permittedBy permit: @escaping @Sendable (any AccountsStore, AccountStatus?) async throws -> Void
    ) async throws -> UUID {
        let receipt = UUID()
        try await store.retryingTransaction { store in
            try await permit(store, store.lockAccount(uid, application: application.id))
            try await store.beginDeletion(of: uid, by: cause, session: session, receipt: receipt, in: application)
        }
        return receipt
    }

    /// Brings an account back; the token is used up in any case.
    ///
    /// The token of a password reset sets the password too.
    /// - Throws: `AccountsError.invalidToken`, `.accountDisabled`.
    package func restore(with text: String, from client: Client, in application: Application) async throws -> SignedIn {
        guard let token = tokens.opaque.parse(text) else { throw AccountsError.invalidToken }
        let outcome = try await store.retryingTransactionKeepingRefusals { store in
            guard let proof = try await store.consume(.restore, hash: token.hash, application: application.id),
                let uid = proof.uid
            else { throw AccountsError.invalidToken }
            let status = try await store.lockAccount(uid, application: application.id)
            if case .disabled? = status {
                try await store.record(.refusal(of: proof, uid: uid), application: application.id)
                throw AccountsError.accountDisabled(LinkingRule.accountDisabled.refusal)
            }
            // Refused before anything is written: a refusal keeps what was written before it.
            if proof.password != nil { _ = try application.providers.named(proof.provider) }
            guard case .deleted? = status,
                let deletion = try await store.restore(uid, application: application.id)
            else { throw AccountsError.invalidToken }
            try await store.announce([AccountEvent(.accountRestored, of: uid)], application: application.id)
            try await store.notify(ownerOf: uid, .accountRestored, application: application.id)
            try await setPassword(of: proof, from: client, in: application, store: store)

            // What was proven may not be one of its identities: an address of the account's was enough.
            var session = tokens.newSession(methods: proof.methods, client: client, in: application)
            session.continues = deletion.session
            return try await store.open(session, of: uid, in: application) {
                $0.provider == proof.provider && $0.providerUid == proof.providerUid
            }
        }
        return try await signIn.finish(outcome, in: application)
    }

    /// Of an account that is live again, where the proof is of a password reset.
    private func setPassword(
        of proof: Proof, from client: Client, in application: Application, store: any AccountsStore
    ) async throws {
        guard let password = proof.password, let address = proof.address else { return }
        let subject = PasswordSubject(providerUid: proof.providerUid, address: address)
        // It ends with every other session of the account.
        let session = tokens.newSession(methods: proof.methods, client: client, in: application)
        let opening = SessionOpening(
            session: session, evidence: subject.evidence(methods: proof.methods), provider: proof.provider,
            application: application.id)
        guard
            try await replacement.replace(by: opening, of: subject, with: password, in: application, store: store)
                == nil
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

extension AuditEntry {
    /// A token that was right, of an account that an admin has closed.
    fileprivate static func refusal(of proof: Proof, uid: UUID) -> AuditEntry {
        AuditEntry(
            .signInRefused, of: uid,
            details: ["provider": .string(proof.provider), "rule": .string(LinkingRule.accountDisabled.rawValue)])
    }
}

extension AccountsStore {
    /// Ends every session of an account that the caller has locked, and starts its grace period, the application's
    /// unless another is given; `session` is the one that asked for it.
    func beginDeletion(
        of uid: UUID, by cause: DeletionCause, session: UUID? = nil, receipt: UUID, gracePeriod: Duration? = nil,
        in application: Application
    ) async throws {
        let purgeAfter = try await requestDeletion(
            of: uid, by: cause, session: session, receipt: receipt,
            gracePeriod: gracePeriod ?? application.policy.deletionGracePeriod,
            application: application.id)
        _ = try await endSessions(.all, of: uid, because: .accountDeleted, application: application.id)
        try await announce(
            [AccountEvent(.accountDeleted, of: uid, details: ["receipt": .string(receipt.text)])],
            application: application.id)
        try await notify(ownerOf: uid, .accountDeleted, until: purgeAfter, application: application.id)
    }
}
