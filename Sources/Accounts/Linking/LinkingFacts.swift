internal import Foundation
internal import ProviderKit

extension AccountsStore {
    /// Everything that bears on evidence, read.
    func facts(
        about evidence: VerifiedIdentity, of provider: ConfiguredProvider, in application: Application,
        asking: AskingAccount? = nil
    ) async throws -> LinkingState {
        // A guest's subject was drawn a moment ago: there is nothing to look up.
        guard !evidence.isGuest else { return LinkingState(asking: asking) }
        var state = try await linkingState(
            for: evidence, provider: provider.name, idleLimit: application.providers.phoneIdleLimit,
            application: application.id)
        state.asking = asking
        if let identity = state.identity, identity.isQuarantined {
            state.identity?.needsSecondProof = try await hasUsableIdentity(identity.uid, in: application)
        }
        for index in state.owners.indices where state.owners[index].needsSecondProof {
            state.owners[index].needsSecondProof = try await hasUsableIdentity(
                state.owners[index].uid, in: application)
        }
        for index in state.owners.indices where state.owners[index].isIdle {
            state.owners[index].hasOtherWay = try await hasOtherWay(than: state.owners[index], in: application)
        }
        return state
    }

    /// Whether anything but quarantined identities can sign in: a quarantine locks no owner out.
    func hasUsableIdentity(_ uid: UUID, in application: Application) async throws -> Bool {
        try await identities(of: uid, application: application.id)
            .contains(where: application.providers.canSignIn(with:))
    }

    /// By an identity that does not rest on the address, or by a code to an e-mail address that it owns beside it.
    private func hasOtherWay(than owner: AddressOwner, in application: Application) async throws -> Bool {
        let identities = try await identities(of: owner.uid, application: application.id)
        if identities.contains(where: { !$0.rests(on: owner.address) && application.providers.canSignIn(with: $0) }) {
            return true
        }
        guard application.policy.automaticLinking == .verified, application.providers.provesEmail else { return false }
        return try await noticeAddresses(of: owner.uid, application: application.id).contains { $0.kind == .email }
    }

    /// The account that asks for a link, locked, as is its session.
    ///
    /// - Throws: `AccountsError.invalidToken` where the session has ended.
    func lockedAsking(_ principal: Principal) async throws -> AskingAccount {
        guard let asking = try await lockedAskingIfLive(principal) else { throw AccountsError.invalidToken }
        return asking
    }

    /// The same; `nil` where the session has ended.
    func lockedAskingIfLive(_ principal: Principal) async throws -> AskingAccount? {
        guard try await lockAccount(principal.uid, application: principal.application.id) == .live,
            try await lockSession(principal.sessionID, of: principal.uid, application: principal.application.id)
        else { return nil }
        let identities = try await identities(of: principal.uid, application: principal.application.id)
        return AskingAccount(uid: principal.uid, isGuest: identities.allSatisfy(\.isGuest))
    }

    /// A session of an account that the caller has locked, by the identity that fits, else by the first that could sign in.
    ///
    /// That counts as no use of the identity: it was not proven now.
    func open(
        _ session: NewSession, of uid: UUID, in application: Application, by fits: (IdentityRecord) -> Bool
    ) async throws -> SignInOutcome {
        let identities = try await identities(of: uid, application: application.id)
        let identity =
            identities.first(where: fits) ?? identities.first(where: application.providers.canSignIn(with:))
            ?? identities.first
        guard let identity else { throw StoreConflict() }
        var session = session
        session.provesIdentity = false
        let opening = SessionOpening(
            session: session, evidence: VerifiedIdentity(providerUid: identity.providerUid, methods: session.methods),
            provider: identity.provider, application: application.id)
        let known = KnownIdentity(
            id: identity.id, uid: uid, status: .live, isQuarantined: identity.isQuarantined)
        return .opened(
            try await openSession(opening, identity: known, password: nil), refreshToken: session.refreshToken)
    }

    /// Locks several accounts as everybody does it, in the order of their uids.
    @discardableResult
    func lockAccounts(_ uids: Set<UUID>, application: Application.ID) async throws -> [UUID: AccountStatus] {
        var statuses: [UUID: AccountStatus] = [:]
        for uid in uids.sorted(by: { $0.text < $1.text }) {
            statuses[uid] = try await lockAccount(uid, application: application)
        }
        return statuses
    }

    /// Everything that bears on evidence once the accounts that it may lead to are locked, and the asking one with them;
    /// `nil` where the session that asks has ended.
    /// - Throws: `StoreConflict` where the evidence leads elsewhere by then.
    func lockedFacts(
        about evidence: VerifiedIdentity, of provider: ConfiguredProvider, askedBy principal: Principal
    ) async throws -> LinkingState? {
        let application = principal.application
        let accounts = try await facts(about: evidence, of: provider, in: application).accounts
        try await lockAccounts(accounts.union([principal.uid]), application: application.id)
        guard let asking = try await lockedAskingIfLive(principal) else { return nil }
        let state = try await facts(about: evidence, of: provider, in: application, asking: asking)
        guard state.accounts.isSubset(of: accounts) else { throw StoreConflict() }
        return state
    }
}

extension LinkingState {
    /// The accounts that evidence may lead to.
    var accounts: Set<UUID> { Set([identity?.uid].compactMap { $0 } + owners.map(\.uid)) }
}

extension IdentityRecord {
    /// Whether the identity is that address, or shows it as its own.
    func rests(on address: Address) -> Bool {
        providerUid == address.value || (phoneVerified && phone == address.phone && phone != nil)
            || (emailVerified && email == address.email && email != nil)
    }
}
