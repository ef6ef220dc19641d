package import Accounts
package import Foundation
internal import ProviderKit

extension AccountActs {
    /// Replaces the roles and claims of an account, or of the account that has absorbed it.
    ///
    /// New access tokens contain the new values. Earlier tokens keep the old ones until they expire, unless the change
    /// ends the sessions. If the values are unchanged, no webhook is called, and only ended sessions are recorded.
    ///
    /// The account may be disabled or in its grace period.
    /// - Returns: The account's present roles and claims.
    /// - Throws: `AccountsError.invalidParameter` if a role or the claims are not allowed, and
    ///   `AccountsError.accountNotFound`.
    package func setAccess(
        _ change: AccessChange, of uid: UUID, by act: AdministrativeAct, in application: Application
    ) async throws -> AccountAccess {
        let rules = application.policy.access
        let change = try rules.checked(change)
        return try await onAccount(uid, in: application) { store, uid, _ in
            let result = try await store.setAccess(
                change, naming: rules.roles ?? [], of: uid, by: act, application: application.id)
            if !result.changed.isEmpty {
                try await store.announce([.changed(uid, result.changed)], application: application.id)
                try await store.keepNote(of: act, about: uid, application: application.id)
            }
            if change.endsSessions {
                let count = try await store.endSessions(
                    nil, of: uid, because: .accessChanged, application: application.id)
                // The change of the values is recorded already, with the same act.
                if result.changed.isEmpty, count > 0 {
                    try await Self.record(endOf: count, of: uid, by: act, in: application, store: store)
                }
            }
            return result.access
        }
    }
}

extension AccountEvent {
    fileprivate static func changed(_ uid: UUID, _ names: [String]) -> AccountEvent {
        AccountEvent(.accountChanged, of: uid, details: ["changed": .array(names.map { .string($0) })])
    }
}
