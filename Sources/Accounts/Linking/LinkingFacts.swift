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
        for index in state.owners.indices where state.owners[index].isIdle {
            let owner = state.owners[index]
            state.owners[index].hasOtherWay = try await identities(of: owner.uid, application: application.id)
                .contains { !$0.rests(on: owner.address) && application.providers.canSignIn(with: $0) }
        }
        return state
    }

    /// The account that asks for a link, locked, as is its session.
    ///
    /// - Throws: `AccountsError.invalidToken` where the session has ended.
    func lockedAsking(_ caller: Caller) async throws -> AskingAccount {
        guard let asking = try await lockedAskingIfLive(caller) else { throw AccountsError.invalidToken }
        return asking
    }

    /// The same; `nil` where the session has ended.
    func lockedAskingIfLive(_ caller: Caller) async throws -> AskingAccount? {
        guard try await lockAccount(caller.uid, application: caller.application.id) == .live,
            try await lockSession(caller.sessionID, of: caller.uid, application: caller.application.id)
        else { return nil }
        let identities = try await identities(of: caller.uid, application: caller.application.id)
        return AskingAccount(uid: caller.uid, isGuest: identities.allSatisfy(\.isGuest))
    }

    /// A session of an account that the caller has locked, by the identity that fits, else by any that could sign in.
    func open(
        _ session: NewSession, of uid: UUID, in application: Application, by fits: (IdentityRecord) -> Bool
    ) async throws -> SignInOutcome {
        let identities = try await identities(of: uid, application: application.id)
        let identity =
            identities.first(where: fits) ?? identities.first(where: application.providers.canSignIn(with:))
            ?? identities.first
        guard let identity else { throw StoreConflict() }
        let opening = SessionOpening(
            session: session, evidence: VerifiedIdentity(providerUid: identity.providerUid, methods: session.methods),
            provider: identity.provider, application: application.id)
        let known = KnownIdentity(id: identity.id, uid: uid, status: .live)
        return .opened(
            try await openSession(opening, identity: known, password: nil), refreshToken: session.refreshToken)
    }

    /// Locks several accounts as everybody does it, in the order of their uids.
    func lockAccounts(_ uids: Set<UUID>, application: Int32) async throws {
        for uid in uids.sorted(by: { $0.text < $1.text }) {
            _ = try await lockAccount(uid, application: application)
        }
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
