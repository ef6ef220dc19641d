internal import Foundation
internal import ProviderKit

/// Reads everything that the linking rules depend on.
package struct LinkingFacts: Sendable {
    package typealias Store = AccountLocks & LinkingStateStore & IdentityStore & OwnerContactStore

    let store: any Store
    let application: Application

    /// Reads everything that the linking rules apply to the evidence, without locking it.
    ///
    /// With a principal, the state has no requester if the principal's session has ended.
    func read(
        _ evidence: VerifiedIdentity, of provider: ConfiguredProvider, requestedBy principal: Principal? = nil
    ) async throws -> LinkingReading {
        // The subject of a guest was generated at random for this request, so no stored row can match it.
        if evidence.isGuest, principal == nil { return LinkingReading(LinkingState()) }
        var reading = try await store.linkingReading(
            for: evidence, of: provider.name, requestedBy: principal, in: application)
        reading.state = try await completed(reading.stored)
        return reading
    }

    /// Reads the owners of the evidence's addresses as if its identity were unknown; leaves out the account `uid`.
    func readOwners(ofAddressesIn evidence: VerifiedIdentity, except uid: UUID) async throws -> LinkingState {
        // No provider has an empty name, and therefore none has the identity.
        var stored = try await store.linkingReading(for: evidence, of: "", requestedBy: nil, in: application).stored
        stored.owners.removeAll { $0.uid == uid }
        return try await completed(stored)
    }

    /// Locks accounts and the principal's session, and checks that the reading is still current.
    ///
    /// A decision that was based on the reading then stays valid until the transaction ends.
    ///
    /// - Throws: `StoreConflict` if anything has changed.
    func hold(
        _ reading: LinkingReading, locking accounts: Set<UUID>, for evidence: VerifiedIdentity,
        of provider: ConfiguredProvider, requestedBy principal: Principal? = nil
    ) async throws {
        try await store.lock(accounts, session: principal?.sessionID, application: application.id)
        try await check(reading, for: evidence, of: provider, requestedBy: principal)
    }

    /// Checks that the reading is still current, after what it depends on was locked.
    ///
    /// - Throws: `StoreConflict` if anything has changed.
    func check(
        _ reading: LinkingReading, for evidence: VerifiedIdentity, of provider: ConfiguredProvider,
        requestedBy principal: Principal? = nil
    ) async throws {
        try await store.require(
            reading.stored, for: evidence, of: provider.name, requestedBy: principal, in: application)
        guard reading.stored.needsCompletion else { return }
        guard try await completed(reading.stored) == reading.state else { throw StoreConflict() }
    }

    /// Adds the accounts' other identities to the state, if the verdict depends on them.
    private func completed(_ stored: LinkingState) async throws -> LinkingState {
        guard stored.needsCompletion else { return stored }
        var state = stored
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
        return try await store.contact(of: owner.uid, application: application.id).addresses
            .contains { $0.kind == .email }
    }
}

extension LinkingState {
    /// Whether the verdict depends on further identities of the accounts.
    fileprivate var needsCompletion: Bool {
        identity?.isQuarantined == true || owners.contains { $0.needsOtherSignIn || $0.isIdle }
    }

    /// Whether no account has the identity or an address of the evidence.
    ///
    /// The requester's account must have none of the addresses either: it could lose one, and no constraint would notice.
    var isUnclaimed: Bool { identity == nil && owners.isEmpty }

    var accounts: Set<UUID> { Set([identity?.uid].compactMap { $0 } + owners.map(\.uid)) }
}
