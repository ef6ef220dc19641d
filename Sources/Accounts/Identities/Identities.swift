package import Foundation
internal import ProviderKit

package enum IdentityRemoval: Sendable, Equatable {
    case removed
    /// The identity was the account's last one: the account keeps it, and its grace period has started.
    case accountDeleted(receipt: UUID)
}

package struct Identities: Sendable {
    typealias Store = AccountLocks & IdentityStore & IdentityUnlinking.Store & DeletionScheduling.Store

    let store: any TransactionalStore & Store

    package func list(of principal: Principal) async throws -> [ListedIdentity] {
        let identities = try await store.identities(of: principal)
        // An account has no identities only if it was absorbed just now, which also ended its sessions.
        guard !identities.isEmpty else { throw AccountsError.invalidToken }
        return identities
    }

    /// Removes an identity, by default that of the principal's session, and ends the sessions that it opened.
    /// - Throws: `AccountsError.identityNotFound`; `.lastUsableIdentity` if no other one can sign in;
    ///   `.otherIdentityRequired`.
    package func remove(_ id: UUID?, by principal: Principal) async throws -> IdentityRemoval {
        let application = principal.application
        return try await store.retryingTransaction { store in
            guard let held = try await store.lockIdentities(of: principal) else { throw AccountsError.invalidToken }
            let isChosen = { (listed: ListedIdentity) in id.map { $0 == listed.identity.id } ?? listed.isCurrent }
            guard let identity = held.identities.first(where: isChosen)?.identity else {
                throw AccountsError.identityNotFound
            }
            guard !held.beyondReach.contains(identity.id) else { throw AccountsError.beyondReach }
            let remaining = held.identities.map(\.identity).filter { $0.id != identity.id }
            guard !remaining.isEmpty else {
                let receipt = UUID()
                try await DeletionScheduling(store: store, application: application)
                    .schedule(principal.uid, by: .lastIdentity, session: principal.sessionID, receipt: receipt)
                return .accountDeleted(receipt: receipt)
            }
            guard application.providers.canSignIn(withAnyOf: remaining) else {
                throw AccountsError.lastUsableIdentity(LinkingRule.lastUsableIdentity.refusal)
            }
            try await IdentityUnlinking(store: store, application: application).unlink(
                identity, of: principal.uid, notifying: held.contact)
            return .removed
        }
    }
}
