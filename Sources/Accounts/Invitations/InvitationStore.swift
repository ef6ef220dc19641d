package import Foundation
package import ProviderKit

package protocol InvitationStore: Sendable {
    /// Whether an account owns the address or has its identity, also an account in its grace period.
    func isTaken(_ target: ChallengeTarget, provider: String, application: Application.ID) async throws -> Bool

    /// Lets only one transaction at a time replace the invitation of an address; others wait.
    func lockInvitation(to target: ChallengeTarget, provider: String, application: Application.ID) async throws

    /// Sets the roles and claims of an account that an invitation has just created, and records the invitation's use.
    ///
    /// The event names only roles of `listed`, because the audit outlives the account.
    func setInvited(
        _ access: AccountAccess, naming listed: [String], of uid: UUID, application: Application.ID
    ) async throws
}
