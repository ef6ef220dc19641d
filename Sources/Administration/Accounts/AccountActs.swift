package import Accounts
package import Foundation

/// The acts of administrators on other people's accounts.
package struct AccountActs: Sendable {
    package typealias Store = AccountActStore & AccountLocks & AliasStore & DeletionScheduling.Store

    let store: any TransactionalStore & Store

    package init(store: any TransactionalStore & Store) { self.store = store }

    /// Returns the dossier of the account that absorbed `uid`, if `uid` is an alias.
    package func dossier(of uid: UUID, in application: Application) async throws -> AccountDossier? {
        try await store.dossier(store.resolve(uid, application: application.id), application: application.id)
    }

    /// Disabling an account ends its sessions, and does not affect a scheduled deletion.
    package func setDisabled(_ disabled: Bool, uid: UUID, in application: Application) async throws {
        try await store.retryingTransaction { store in
            guard try await store.lockAccount(uid, application: application.id) != nil else {
                throw AccountsError.accountNotFound(uid)
            }
            try await store.setDisabled(disabled, uid: uid, application: application.id)
            if disabled {
                try await store.endSessions(.all, of: uid, because: .accountDisabled, application: application.id)
            }
        }
    }

    /// Ends all sessions and starts the grace period; the account may be disabled.
    /// - Returns: the receipt that the client presents to read the status of the deletion.
    package func delete(_ uid: UUID, in application: Application) async throws -> UUID {
        let receipt = UUID()
        try await store.retryingTransaction { store in
            guard let status = try await store.lockAccount(uid, application: application.id), status.isUndeleted else {
                throw AccountsError.accountNotFound(uid)
            }
            try await DeletionScheduling(store: store, application: application)
                .schedule(uid, by: .admin, receipt: receipt)
        }
        return receipt
    }

    package func requirePasswordChange(uid: UUID, in application: Application) async throws -> Bool {
        try await store.retryingTransaction { store in
            _ = try await store.lockAccount(uid, application: application.id)
            return try await store.requirePasswordChange(uid: uid, application: application.id)
        }
    }
}
