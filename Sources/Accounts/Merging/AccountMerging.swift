package import Foundation
internal import ProviderKit

package struct AccountMerging: Sendable {
    typealias Store = AccountLocks & IdentityStore & MergeTicketStore & MergeUndoStore & MergeWriter.Store
        & SessionContinuation.Store

    let store: any TransactionalStore & Store
    let tokens: SessionTokens

    /// Returns the plan of a merge with this ticket, without carrying it out or consuming the ticket.
    /// - Throws: `AccountsError.invalidToken`.
    package func preview(ticket text: String, survivor: SurvivorChoice?, by principal: Principal) async throws
        -> MergePlan
    {
        guard let ticket = tokens.opaque.parse(text) else { throw AccountsError.invalidToken }
        return try await store.retryingTransaction { store in
            let proof = try await store.mergeTicket(
                ticket.hash, of: principal.sessionID, usingUp: false, application: principal.application.id)
            return try await plan(proof, survivor: survivor, by: principal, store: store)
        }
    }

    /// Merges the principal's account with the ticket's account.
    /// - Throws: `AccountsError.invalidToken` for a ticket that is used, expired or belongs to another session.
    package func merge(
        ticket text: String, survivor: SurvivorChoice?, by principal: Principal, from client: Client
    ) async throws -> (SignedIn, Merge) {
        guard let ticket = tokens.opaque.parse(text) else { throw AccountsError.invalidToken }
        let application = principal.application
        let (outcome, merge) = try await store.retryingTransaction { store in
            let proof = try await store.mergeTicket(
                ticket.hash, of: principal.sessionID, usingUp: true, application: application.id)
            let plan = try await plan(proof, survivor: survivor, by: principal, store: store)
            let merge = try await MergeWriter(store: store, application: application).carryOut(plan)
            let outcome = try await open(merge, proof: proof, by: principal, from: client, store: store)
            if plan.upgradesSurvivor, case .opened(let opened, _) = outcome {
                try await store.endSessions(
                    .allBut(opened.grant.sessionID), of: plan.survivor, because: .guestUpgraded,
                    application: application.id)
            }
            return (outcome, merge)
        }
        return (try await tokens.signedIn(outcome, in: application), merge)
    }

    package func list(of principal: Principal) async throws -> [Merge] {
        try await store.merges(of: principal.uid, application: principal.application.id)
    }

    /// Restores both accounts as they were, except for identities and addresses that have been removed since.
    /// - Throws: `AccountsError.mergeNotFound` if the merge is not the principal's, too old or already undone;
    ///   `AccountsError.lastUsableIdentity` if one of the two accounts would have no identity that can sign in.
    package func undo(_ id: UUID, by principal: Principal) async throws {
        let application = principal.application
        try await store.retryingTransaction { store in
            let merges = try await store.merges(of: principal.uid, application: application.id)
            guard let merge = merges.first(where: { $0.id == id && $0.survivor == principal.uid && $0.undoneAt == nil })
            else { throw AccountsError.mergeNotFound }
            try await store.lockAccounts([merge.survivor, merge.absorbed], application: application.id)
            guard try await store.lockSession(principal.sessionID, of: principal.uid, application: application.id)
            else { throw AccountsError.invalidToken }
            try await OwnerNotices(store: store, application: application.id).send(
                .mergeUndone, toOwnerOf: merge.survivor)
            guard try await store.undo(merge, evenIfLate: false, application: application.id) else {
                throw AccountsError.mergeNotFound
            }
            try await refuseStranding(merge, in: application, store: store)
            if merge.identities.isEmpty { try await store.reviveSessions(of: merge, application: application.id) }
            for identity in merge.identities {
                try await store.endSessions(
                    .openedBy(identity), of: merge.survivor, because: .mergeUndone, application: application.id)
            }
            try await store.announce([.merge(.accountUnmerged, merge)], application: application.id)
        }
    }

    private func plan(
        _ proof: Proof?, survivor: SurvivorChoice?, by principal: Principal, store: any Store
    ) async throws -> MergePlan {
        let application = principal.application.id
        guard let proof, let other = proof.uid, other != principal.uid else { throw AccountsError.invalidToken }
        let statuses = try await store.lockAccounts([principal.uid, other], application: application)
        guard statuses[other] == .live, try await store.lock(principal) else { throw AccountsError.invalidToken }
        let theirs = try await store.mergeSide(other, application: application)
        // If the other account no longer has the proved identity, the ticket does not prove the account.
        guard theirs.has(proof) else { throw AccountsError.invalidToken }
        return MergePlan(
            try await store.mergeSide(principal.uid, application: application), theirs,
            survivor: survivor.map { $0 == .current ? principal.uid : other })
    }

    /// Opens a session by an identity of the survivor, because an undo ends the sessions of identities that moved.
    private func open(
        _ merge: Merge, proof: Proof?, by principal: Principal, from client: Client, store: any Store
    ) async throws -> SignInOutcome {
        let application = principal.application
        let current = try await store.identity(ofSession: principal.sessionID, application: application.id)
        let isOwn = merge.survivor == principal.uid
        return try await SessionContinuation(store: store, tokens: tokens).open(
            merge.survivor, continuing: principal.sessionID, methods: proof?.methods ?? [],
            // A ticket proves the other account, but does not re-authenticate the principal's own.
            authenticatedAt: isOwn ? Date(timeIntervalSince1970: TimeInterval(principal.authenticatedAt)) : nil,
            from: client, in: application
        ) { identity in
            isOwn
                ? identity.id == current
                : identity.provider == proof?.provider && identity.providerUid == proof?.providerUid
        }
    }

    /// Checks, once the accounts are separated, that both have an identity that can sign in.
    private func refuseStranding(_ merge: Merge, in application: Application, store: any Store) async throws {
        for uid in [merge.survivor, merge.absorbed] {
            let identities = try await store.identities(of: uid, application: application.id)
            // A guest that absorbed an account or was absorbed becomes a guest again.
            guard identities.contains(where: { $0.isGuest || application.providers.canSignIn(with: $0) }) else {
                throw AccountsError.lastUsableIdentity(LinkingRule.undoStrands.refusal)
            }
        }
    }
}

extension MergeSide {
    /// Whether the proof concerns one of the account's identities or addresses.
    fileprivate func has(_ proof: Proof) -> Bool {
        identities.contains { $0.provider == proof.provider && $0.providerUid == proof.providerUid }
            || addresses.contains { $0.value == proof.providerUid }
    }
}
