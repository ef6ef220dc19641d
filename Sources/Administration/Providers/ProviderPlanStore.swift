package import Accounts
package import Foundation

package protocol ProviderPlanStore: Sendable {
    /// Counts what a change would do, exactly and in one snapshot; `admins` are administrators to look at one by one.
    ///
    /// Call it in a transaction, because it changes settings until that ends.
    func effect(
        of change: ModeChange, admins: [UUID], sample: Int, application: Application.ID
    ) async throws -> ModeEffect

    /// Counts the provider's sessions, sign-ins and flows under way.
    ///
    /// Call it in a transaction, because it changes settings until that ends.
    func traffic(of provider: String, application: Application.ID) async throws -> ProviderTraffic

    /// Stores a plan.
    /// - Returns: when it expires.
    func insert(_ plan: StoredPlan, application: Application.ID) async throws -> Date

    /// Removes and returns a plan that has not expired; in a transaction that fails, the plan stays.
    func takePlan(_ id: UUID, of provider: String, application: Application.ID) async throws -> StoredPlan?
}

/// What a switch needs of a plan.
package struct StoredPlan: Sendable, Equatable {
    package let id: UUID
    package let provider: String
    package let from, to: ProviderMode
    package let stranded: Int

    /// How long a plan can be confirmed.
    package static let lifetime: Duration = .seconds(600)

    package init(id: UUID, provider: String, from: ProviderMode, to: ProviderMode, stranded: Int) {
        (self.id, self.provider, self.from, self.to, self.stranded) = (id, provider, from, to, stranded)
    }

    /// Whether so many more would be stranded that the plan no longer says what would happen.
    package func isOutgrown(by stranded: Int) -> Bool { stranded > self.stranded + self.stranded / 10 + 10 }
}
