package import Accounts
package import Foundation
internal import ProviderKit

/// A deletion whose grace period has started.
package struct ScheduledDeletion: Sendable, Equatable {
    /// What a client presents to read the status of the deletion.
    package let receipt: UUID
    package let purgeAfter: Date

    package init(receipt: UUID, purgeAfter: Date) { (self.receipt, self.purgeAfter) = (receipt, purgeAfter) }
}

/// An erasure that waits for nothing but its processors.
package struct RequestedErasure: Sendable, Equatable {
    package let receipt: UUID
    /// The webhooks and providers that have not acknowledged the deletion.
    package let waitingFor: [String]
}

extension AccountActs {
    /// Ends all sessions and starts the grace period; the account may be disabled.
    ///
    /// - Returns: the deletion that is under way, if there was one already.
    /// - Throws: `AccountsError.accountNotFound`; `AdministrationError.lastOwner`.
    package func delete(
        _ uid: UUID, by act: AdministrativeAct, in application: Application
    ) async throws -> ScheduledDeletion {
        try await onAccount(uid, in: application) { store, uid, status in
            if status.isUndeleted {
                try await requireOtherOwner(than: uid, in: application, store: store)
                try await DeletionScheduling(store: store, application: application)
                    .schedule(uid, by: .admin, details: act.details)
                try await store.keepNote(of: act, about: uid, application: application.id)
            }
            guard let deletion = try await store.summary(of: uid, application: application.id)?.deletion else {
                throw StoreConflict()
            }
            return deletion
        }
    }

    /// Ends the grace period of an account, which may be disabled and then stays so; the owner is told.
    ///
    /// - Throws: `AccountsError.accountNotFound`; `AdministrationError.wrongState` once the erasure has begun.
    package func restore(_ uid: UUID, by act: AdministrativeAct, in application: Application) async throws {
        try await onAccount(uid, in: application) { store, uid, status in
            guard !status.isUndeleted else { return }
            let restoration = AccountRestoration(store: store, application: application)
            guard try await restoration.restore(uid, details: act.details) != nil else {
                throw AdministrationError.wrongState(reason: "The grace period is over")
            }
            try await store.keepNote(of: act, about: uid, application: application.id)
        }
    }

    /// Ends the grace period of an account, so that the server erases it as soon as its processors have acknowledged.
    ///
    /// - Throws: `AccountsError.accountNotFound`; `AdministrationError.wrongState` for an account that is not deleted.
    package func erase(
        _ uid: UUID, by act: AdministrativeAct, in application: Application
    ) async throws -> RequestedErasure {
        do {
            return try await onAccount(uid, in: application) { store, uid, _ in
                guard let erasure = try await store.scheduledErasure(of: uid, application: application.id) else {
                    throw AdministrationError.wrongState(reason: "Only an account that is deleted can be erased")
                }
                if try await store.skipGracePeriod(of: erasure, by: act) {
                    try await store.keepNote(of: act, about: uid, application: application.id)
                }
                let processors = try await store.state(of: erasure)?.processors ?? []
                return RequestedErasure(
                    receipt: erasure.receipt, waitingFor: processors.filter { !$0.isSettled }.map(\.name))
            }
        } catch AccountsError.accountNotFound(let uid) {
            // The server has erased it since an earlier call.
            guard let receipt = try await store.receipt(ofErased: uid, application: application.id) else {
                throw AccountsError.accountNotFound(uid)
            }
            return RequestedErasure(receipt: receipt, waitingFor: [])
        }
    }

    /// Records an export of everything that is held about a person; call it before the export.
    ///
    /// The owner is told, unless a command exports or the law is the reason.
    /// - Returns: the `uid` of the account to export.
    /// - Throws: `AccountsError.accountNotFound`.
    package func beginExport(
        of uid: UUID, by act: AdministrativeAct, in application: Application
    ) async throws -> UUID {
        try await onAccount(uid, in: application) { store, uid, _ in
            let details = act.details(adding: ["by": "admin"])
            try await store.record(
                AuditEntry(.accountExported, of: uid, details: details), application: application.id)
            if let reason = act.reason, reason.code != .legal {
                try await OwnerNotices(store: store, application: application.id)
                    .send(.accountExported, toOwnerOf: uid)
            }
            try await store.keepNote(of: act, about: uid, application: application.id)
            return uid
        }
    }
}
