package import Foundation
internal import ProviderKit

package struct AccountMerging: Sendable {
    typealias Store = AccountLocks & GuestSwitch.Store & IdentityStore & MergeTicketStore & MergeUndoStore
        & MergeWriter.Store & SessionContinuation.Store

    let store: any TransactionalStore & Store
    let tokens: SessionTokens

    /// Returns both accounts that this ticket permits merging, without consuming it.
    /// - Throws: `AccountsError.invalidToken`; `AccountsError.otherIdentityRequired`.
    package func preview(ticket text: String, by principal: Principal) async throws -> MergePreview {
        guard let ticket = tokens.opaque.parse(text) else { throw AccountsError.invalidToken }
        return try await store.retryingTransaction { store in
            try await permitted(store.lockMerge(byTicket: ticket.hash, of: principal), by: principal).preview
        }
    }

    /// Merges the principal's account with the ticket's account.
    /// - Throws: `AccountsError.invalidToken` for a ticket that is used, expired or belongs to another session;
    ///   `AccountsError.limitReached`; `AccountsError.otherIdentityRequired` if either account was proved by an identity
    ///   that lacks one of the account's roles.
    package func merge(
        ticket text: String, survivor: SurvivorChoice?, by principal: Principal, from client: Client
    ) async throws -> (SignedIn, Merge) {
        guard let ticket = tokens.opaque.parse(text) else { throw AccountsError.invalidToken }
        let application = principal.application
        let (outcome, merge) = try await store.retryingTransaction { store in
            let held = try await store.lockMerge(byTicket: ticket.hash, of: principal)
            let (preview, facts) = try permitted(held, by: principal)
            let plan = try preview.plan(survivor, in: application)
            try await store.useMergeTicket(ticket.hash, application: application.id)
            let merge = try await MergeWriter(store: store, application: application)
                .carryOut(plan, from: facts.reading)
            if plan.upgradesSurvivor {
                try await store.endSessions(
                    .all, of: plan.survivor, because: .guestUpgraded, application: application.id)
            }
            return (try await open(plan, from: facts, by: principal, from: client, store: store), merge)
        }
        return (try await tokens.signedIn(outcome, in: application), merge)
    }

    /// Ends the principal's guest account, and signs in to the ticket's account.
    /// - Throws: `AccountsError.invalidToken`, also for the ticket of an account that is permanent.
    package func switchGuest(
        ticket text: String, by principal: Principal, from client: Client
    ) async throws -> SignedIn {
        guard let ticket = tokens.opaque.parse(text) else { throw AccountsError.invalidToken }
        let application = principal.application
        let outcome = try await store.retryingTransaction { store in
            let held = try await store.lockMerge(byTicket: ticket.hash, of: principal)
            let (preview, facts) = try preview(of: held, by: principal)
            guard preview.current.isGuest else { throw AccountsError.invalidToken }
            try await store.useMergeTicket(ticket.hash, application: application.id)
            try await GuestSwitch(store: store, application: application).move(principal, to: preview.other.uid)
            return try await SessionContinuation(store: store, tokens: tokens).open(
                preview.other.uid, among: preview.other.identities, continuing: nil, methods: facts.proof.methods,
                from: client, in: application, by: facts.proof.isOf)
        }
        return try await tokens.signedIn(outcome, in: application)
    }

    package func list(of principal: Principal) async throws -> [Merge] {
        try await store.merges(of: principal.uid, application: principal.application.id)
    }

    /// Restores both accounts as they were, except for identities and addresses that have been removed since.
    /// - Throws: `AccountsError.mergeNotFound` if the merge is not the principal's, too old or already undone;
    ///   `AccountsError.lastUsableIdentity` if one of the two accounts would have no identity that can sign in;
    ///   `AccountsError.otherIdentityRequired`.
    package func undo(_ id: UUID, by principal: Principal) async throws {
        let application = principal.application
        try await store.retryingTransaction { store in
            let held = try await store.lockMerge(id, by: principal)
            guard let merge = held.merge else { throw AccountsError.mergeNotFound }
            guard held.isSessionLive else { throw AccountsError.invalidToken }
            guard held.hasNoRoleBeyondSession else { throw AccountsError.beyondReach }
            // At this point the survivor still has the addresses of both accounts.
            try await OwnerNotices(store: store, application: application.id)
                .send(.mergeUndone, to: held.contact, ofOwnerOf: merge.survivor)
            try await store.undo(merge, evenIfLate: false, application: application.id)
            if merge.identities.isEmpty {
                try await store.reviveSessions(of: merge, application: application.id)
            }
            try await store.endSessions(
                ofUndone: merge, sharing: held.sharedPasswords, application: application.id)
            try await store.announce([.merge(.accountUnmerged, merge)], application: application.id)
            try await refuseStranding(merge, in: application, store: store)
        }
    }

    /// Checks the ticket, and that both accounts were proved by identities with their roles.
    private func permitted(
        _ held: TicketedMerge?, by principal: Principal
    ) throws(AccountsError) -> (preview: MergePreview, held: TicketedMerge) {
        let (preview, held) = try preview(of: held, by: principal)
        guard preview.current.hasNoRole(beyond: principal.isOf), preview.other.hasNoRole(beyond: held.proof.isOf)
        else { throw .beyondReach }
        return (preview, held)
    }

    /// Checks the ticket of two locked accounts.
    private func preview(
        of held: TicketedMerge?, by principal: Principal
    ) throws(AccountsError) -> (preview: MergePreview, held: TicketedMerge) {
        guard let held, let other = held.proof.uid, other != principal.uid, let own = held.reading.sides[principal.uid],
            let theirs = held.reading.sides[other],
            // If the other account no longer has the proved identity, the ticket does not prove the account.
            theirs.has(held.proof)
        else { throw .invalidToken }
        return (MergePreview(current: own, other: theirs, time: held.reading.time), held)
    }

    /// Opens a session by an identity of the survivor, because an undo ends the sessions of identities that moved.
    private func open(
        _ plan: MergePlan, from held: TicketedMerge, by principal: Principal, from client: Client, store: any Store
    ) async throws -> SignInOutcome {
        let isOwn = plan.survivor == principal.uid
        let identities = (held.reading.sides[plan.survivor]?.identities ?? []) + plan.identities
        return try await SessionContinuation(store: store, tokens: tokens).open(
            plan.survivor, among: identities.filter { !plan.guests.contains($0) }, continuing: principal.sessionID,
            methods: held.proof.methods,
            // A ticket proves the other account, but does not re-authenticate the principal's own.
            authenticatedAt: isOwn ? principal.authenticationTime : nil,
            from: client, in: principal.application
        ) { identity in
            isOwn ? identity.id == held.identity : held.proof.isOf(identity)
        }
    }

    /// Checks, once the accounts are separated, that both have an identity that can sign in.
    private func refuseStranding(_ merge: Merge, in application: Application, store: any Store) async throws {
        let accounts = [merge.survivor, merge.absorbed]
        let identities = try await store.identities(ofEach: accounts, application: application.id)
        for uid in accounts {
            // A guest that absorbed an account or was absorbed becomes a guest again.
            guard let own = identities[uid],
                own.contains(where: \.isGuest) || application.providers.canSignIn(withOnly: own)
            else { throw AccountsError.lastUsableIdentity(LinkingRule.undoStrands.refusal) }
        }
    }
}

extension Principal {
    fileprivate func isOf(_ identity: Identity) -> Bool {
        identity.provider == provider && identity.providerUid == providerUid
    }
}

extension MergeSide {
    /// Whether the proving identity has every role that an identity of the account has (`RoleIdentityStore`).
    fileprivate func hasNoRole(beyond isProving: (Identity) -> Bool) -> Bool {
        roles.allSatisfy { role in
            let holders = identities.filter { role.contains($0.id) }
            return holders.isEmpty || holders.contains(where: isProving)
        }
    }

    /// Whether the proof concerns one of the account's identities or addresses.
    fileprivate func has(_ proof: Proof) -> Bool {
        identities.contains(where: proof.isOf) || addresses.contains { $0.value == proof.providerUid }
    }
}
