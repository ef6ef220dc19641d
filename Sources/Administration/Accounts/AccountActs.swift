package import Accounts
package import Foundation
package import ProviderKit

/// The acts of administrators on other people's accounts.
///
/// An act leads to a state: to repeat it changes nothing, and records nothing. A `uid` that is an alias stands for the
/// account that absorbed it. The note of an act is stored with the account in the same transaction.
package struct AccountActs: Sendable {
    package typealias Store = AccountActStore & AccountLocks & AdminGrantStore & AdminNoteStore & AliasStore
        & AuditTrail & BoundedTransactions & DeletionScheduling.Store & ErasureQueue & ErasureStore & IdentityStore
        & IdentityUnlinking.Store & MergeStore & ProofStore & RecoveryStore

    let store: any TransactionalStore & Store
    /// The application that has the administrators' accounts; `nil` if it is not known, or there is none.
    private var home: Application.ID?
    /// Whose rights limit the acts on other administrators; `nil` for an operator's acts.
    private var administrator: Administrator?

    package init(store: any TransactionalStore & Store, home: Application.ID? = nil) {
        (self.store, self.home) = (store, home)
    }

    /// The same acts, which refuse to disable or delete the last owner of all applications.
    package func keepingOwners(of home: Application) -> AccountActs { AccountActs(store: store, home: home.id) }

    /// The same acts for an administrator, who may act on another one only with the right to grant all roles of that
    /// person.
    package func keepingOwners(of home: Application, for administrator: Administrator) -> AccountActs {
        var acts = keepingOwners(of: home)
        acts.administrator = administrator
        return acts
    }

    /// Returns the dossier of the account that absorbed `uid`, if `uid` is an alias.
    package func dossier(of uid: UUID, in application: Application) async throws -> AccountDossier? {
        try await store.dossier(store.resolve(uid, application: application.id), application: application.id)
    }

    /// Disables or enables an account; a scheduled deletion stays as it is.
    ///
    /// Disabling ends the account's sessions. With `until`, the account is enabled again at that time.
    /// - Throws: `AccountsError.accountNotFound`; `AdministrationError.lastOwner`.
    package func setDisabled(
        _ disabled: Bool, until: Date? = nil, uid: UUID, by act: AdministrativeAct, in application: Application
    ) async throws {
        try await onAccount(uid, in: application) { store, uid, _ in
            if disabled { try await requireOtherOwner(than: uid, in: application, store: store) }
            let isNew = try await store.setDisabled(
                disabled, until: disabled ? until : nil, uid: uid, by: act, application: application.id)
            guard isNew else { return }
            if disabled {
                try await store.endSessions(.all, of: uid, because: .accountDisabled, application: application.id)
            }
            try await store.keepNote(of: act, about: uid, application: application.id)
        }
    }

    /// Replaces the values that are not `nil`; metadata must be an object.
    /// - Throws: `AccountsError.invalidParameter`; `AccountsError.accountNotFound`.
    package func updateProfile(
        of uid: UUID, displayName: String?, metadata: JSONValue?, by act: AdministrativeAct,
        in application: Application
    ) async throws {
        if let displayName { try Profile.check(displayName: displayName) }
        if let metadata { try Profile.check(metadata: metadata) }
        try await onAccount(uid, in: application) { store, uid, _ in
            let isNew = try await store.updateProfile(
                of: uid, displayName: displayName, metadata: metadata, by: act, application: application.id)
            if isNew { try await store.keepNote(of: act, about: uid, application: application.id) }
        }
    }

    /// Requires a new password at the next sign-in.
    /// - Returns: `false` when the account has no password.
    /// - Throws: `AccountsError.accountNotFound`.
    package func requirePasswordChange(
        uid: UUID, by act: AdministrativeAct, in application: Application
    ) async throws -> Bool {
        try await onAccount(uid, in: application) { store, uid, _ in
            let isNew = try await store.requirePasswordChange(uid: uid, by: act, application: application.id)
            if isNew == true { try await store.keepNote(of: act, about: uid, application: application.id) }
            return isNew != nil
        }
    }

    /// Locks the account, or the one that has absorbed it, and runs an act on it in the same transaction.
    /// - Throws: `AccountsError.accountNotFound`; `AdministrationError.forbidden`.
    func onAccount<Output: Sendable>(
        _ uid: UUID, in application: Application,
        _ act: @Sendable (any Store, UUID, AccountStatus) async throws -> Output
    ) async throws -> Output {
        try await store.retryingTransaction(within: .administration) { store in
            let uid = try await store.resolve(uid, application: application.id)
            guard let status = try await store.lockAccount(uid, application: application.id) else {
                throw AccountsError.accountNotFound(uid)
            }
            // It was merged after its alias was resolved.
            if case .absorbed = status { throw StoreConflict() }
            // The account may have got a grant, or been merged with one that has, since the call was checked.
            if let home { try await administrator?.requireRight(toActOn: uid, home: home, in: store) }
            return try await act(store, uid, status)
        }
    }

    /// - Throws: `AdministrationError.lastOwner` if the account is the last owner of all applications.
    func requireOtherOwner(than uid: UUID, in application: Application, store: any Store) async throws {
        guard application.id == home, try await store.lockOwners(home: application.id) == [uid] else { return }
        throw AdministrationError.lastOwner
    }
}
