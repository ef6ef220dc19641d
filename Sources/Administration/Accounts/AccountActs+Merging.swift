package import Accounts
package import Foundation
internal import ProviderKit

/// What a merge of two accounts would do, which only their owner can carry out.
package struct MergeForecast: Sendable {
    package let plan: MergePlan
    /// What the person may not expect, as sentences without personal data.
    package let warnings: [String]
}

extension AccountActs {
    /// Plans the merge of two accounts; changes nothing.
    ///
    /// - Throws: `AccountsError.accountNotFound`; `AdministrationError.wrongState` unless both accounts are live;
    ///   `AccountsError.invalidParameter` if both are one account.
    package func forecastMerge(
        of uid: UUID, with other: UUID, in application: Application
    ) async throws -> MergeForecast {
        let limit = application.policy.maximumIdentities
        return try await store.transaction(within: .administration) { store in
            let uids = [
                try await store.resolve(uid, application: application.id),
                try await store.resolve(other, application: application.id),
            ]
            var access: [UUID: AccountAccess] = [:]
            for uid in uids {
                guard let account = try await store.summary(of: uid, application: application.id) else {
                    throw AccountsError.accountNotFound(uid)
                }
                access[uid] = account.access
            }
            guard access.count == 2 else {
                throw AccountsError.invalidParameter("other", reason: "is the same account")
            }
            let reading = try await store.mergeReading(of: uids, application: application.id)
            guard let own = reading.sides[uids[0]], let theirs = reading.sides[uids[1]] else {
                throw AdministrationError.wrongState(reason: "Only live accounts can be merged")
            }
            let plan = MergePlan(own, theirs)
            var warnings = plan.warnings
            let count = (own.identities + theirs.identities).count { !$0.isGuest }
            if !plan.identities.isEmpty, count > limit {
                warnings.insert("The account would have more than \(limit) identities, so the merge is refused", at: 0)
            }
            if access[plan.absorbed, default: AccountAccess()] != AccountAccess() {
                warnings.append("The roles and claims of the absorbed account do not move")
            }
            return MergeForecast(plan: plan, warnings: warnings)
        }
    }
}

extension MergePlan {
    fileprivate var warnings: [String] {
        var warnings: [String] = []
        if !collisions.isEmpty {
            warnings.append("Some values of the absorbed account do not move, as the survivor has others or no room")
        }
        if !guests.isEmpty { warnings.append("A guest's identity is removed") }
        if endedSessions > 0 { warnings.append("Sessions end, so that apps ask the person to sign in again") }
        return warnings
    }
}
