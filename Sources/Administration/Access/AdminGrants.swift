package import Accounts
package import Foundation

/// Granting and revoking the roles of administrators, who are accounts of one application.
package struct AdminGrants: Sendable {
    package typealias Store = AdminGrantStore & AccountLocks & BoundedTransactions & OwnerContactStore
        & MessageOutbox

    let store: any TransactionalStore & Store
    /// The application that has the administrators' accounts.
    let home: Application

    package init(store: any TransactionalStore & Store, home: Application) {
        (self.store, self.home) = (store, home)
    }

    package func list() async throws -> [AdminGrant] { try await store.grants(home: home.id) }

    /// The grants for one application, and those for all.
    package func list(on application: Application) async throws -> [AdminGrant] {
        try await list().filter { $0.application == nil || $0.application == application.id }
    }

    /// Grants a role; every owner of all applications is told by mail.
    ///
    /// - Returns: `false` if nothing changed.
    /// - Throws: `AdministrationError.accountNotFound` unless the account is live, and `lastOwner` if the last owner
    ///   would get another role.
    @discardableResult
    package func grant(
        _ role: AdminScope.Role, to uid: UUID, on application: Application?, by act: AdministrativeAct
    ) async throws -> Bool {
        try await store.retryingTransaction(within: .administration) { store in
            try await lockLive(uid, in: store)
            return try await grant(role, to: uid, on: application, by: act, in: store)
        }
    }

    /// Locks an account, which must be live.
    ///
    /// - Throws: `AdministrationError.accountNotFound`.
    func lockLive(_ uid: UUID, in store: any Store) async throws {
        guard try await store.lockAccount(uid, application: home.id) == .live else {
            throw AdministrationError.accountNotFound
        }
    }

    /// Grants a role to a locked account; with `isAccepted` the person has just accepted it, so that it counts in sessions
    /// of all their identities.
    ///
    /// - Returns: `false` if nothing changed.
    /// - Throws: `AdministrationError.lastOwner`.
    @discardableResult
    func grant(
        _ role: AdminScope.Role, to uid: UUID, on application: Application?, by act: AdministrativeAct,
        isAccepted: Bool = false, in store: any Store
    ) async throws -> Bool {
        let owners = try await store.lockOwners(home: home.id)
        if application == nil, role != .owner, owners == [uid] { throw AdministrationError.lastOwner }
        let isNew = try await store.grant(
            role, to: uid, on: application, knowingAllIdentities: isAccepted, by: act, home: home.id)
        guard isNew else { return false }
        for owner in owners.union([uid]).sorted(by: { $0.uuidString < $1.uuidString }) {
            try await OwnerNotices(store: store, application: home.id)
                .send(
                    .adminGranted, toOwnerOf: owner,
                    provider: "\(role.rawValue) of \(application?.name ?? "all applications"), account \(uid.text)")
        }
        return true
    }

    /// Revokes a role for one application, or for all; without one, nothing changes.
    ///
    /// - Throws: `AdministrationError.accountNotFound`; `wrongState` if the account has no role for `application`, but
    ///   one for all; `lastOwner` if that is the last owner's.
    package func revoke(_ uid: UUID, on application: Application?, by act: AdministrativeAct) async throws {
        try await store.retryingTransaction(within: .administration) { store in
            guard try await store.lockAccount(uid, application: home.id) != nil else {
                throw AdministrationError.accountNotFound
            }
            if application == nil, try await store.lockOwners(home: home.id) == [uid] {
                throw AdministrationError.lastOwner
            }
            let isRevoked = try await store.revokeGrant(of: uid, on: application, by: act, home: home.id)
            guard !isRevoked, application != nil,
                try await store.grants(home: home.id).contains(where: { $0.uid == uid && $0.application == nil })
            else { return }
            guard try await store.lockOwners(home: home.id) != [uid] else { throw AdministrationError.lastOwner }
            throw AdministrationError.wrongState(
                reason: "The account's role is for all applications; the command to revoke it is "
                    + "gatehouse admin revoke \(uid.text) --on all")
        }
    }
}
