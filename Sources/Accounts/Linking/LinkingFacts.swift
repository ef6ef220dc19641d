internal import Foundation
internal import ProviderKit

/// Reads everything that the linking rules depend on.
package struct LinkingFacts: Sendable {
    package typealias Store = AccountLocks & LinkingStateStore & IdentityStore & OwnerContactStore

    let store: any Store
    let application: Application

    /// Reads the state to which the linking rules are applied together with the evidence.
    func state(
        for evidence: VerifiedIdentity, of provider: ConfiguredProvider, requester: RequestingAccount? = nil
    ) async throws -> LinkingState {
        // The subject of a guest was generated at random for this request, so no stored row can match it.
        guard !evidence.isGuest else { return LinkingState(requester: requester) }
        var state = try await store.linkingState(
            for: evidence, provider: provider.name, idleLimit: application.providers.phoneIdleLimit,
            application: application.id)
        state.requester = requester
        if let identity = state.identity, identity.isQuarantined {
            state.identity?.needsOtherSignIn = try await hasUsableIdentity(identity.uid)
        }
        for index in state.owners.indices where state.owners[index].needsOtherSignIn {
            state.owners[index].needsOtherSignIn = try await hasUsableIdentity(state.owners[index].uid)
        }
        for index in state.owners.indices where state.owners[index].isIdle {
            state.owners[index].hasOtherWay = try await hasOtherWay(than: state.owners[index])
        }
        return state
    }

    /// Locks the accounts that the evidence may lead to and the principal's account, and then reads the state.
    /// - Returns: `nil` if the principal's session has ended.
    /// - Throws: `StoreConflict` if the evidence leads to further accounts after the locks were taken.
    func lockedState(
        for evidence: VerifiedIdentity, of provider: ConfiguredProvider, requestedBy principal: Principal
    ) async throws -> LinkingState? {
        let accounts = try await state(for: evidence, of: provider).accounts
        try await store.lockAccounts(accounts.union([principal.uid]), application: application.id)
        guard let requester = try await lockedRequester(principal) else { return nil }
        let state = try await state(for: evidence, of: provider, requester: requester)
        guard state.accounts.isSubset(of: accounts) else { throw StoreConflict() }
        return state
    }

    /// Locks the principal's account and session; returns `nil` if the session has ended.
    func lockedRequester(_ principal: Principal) async throws -> RequestingAccount? {
        guard try await store.lock(principal) else { return nil }
        let identities = try await store.identities(of: principal.uid, application: application.id)
        return RequestingAccount(uid: principal.uid, isGuest: identities.allSatisfy(\.isGuest))
    }

    /// Whether an identity that is not quarantined can sign in; if none can, the quarantine is ignored.
    private func hasUsableIdentity(_ uid: UUID) async throws -> Bool {
        try await application.providers.canSignIn(withAnyOf: store.identities(of: uid, application: application.id))
    }

    /// Whether the owner can sign in without the address: with another identity, or a code to an e-mail address.
    private func hasOtherWay(than owner: AddressOwner) async throws -> Bool {
        let identities = try await store.identities(of: owner.uid, application: application.id)
        if application.providers.canSignIn(withAnyOf: identities.filter { !$0.rests(on: owner.address) }) {
            return true
        }
        guard application.policy.automaticLinking == .verified, application.providers.provesEmail else { return false }
        return try await store.noticeAddresses(of: owner.uid, application: application.id)
            .contains { $0.kind == .email }
    }
}

extension LinkingState {
    var accounts: Set<UUID> { Set([identity?.uid].compactMap { $0 } + owners.map(\.uid)) }
}
