package import Foundation
package import ProviderKit

package protocol RecoveryStore: Sendable {
    /// Returns the oldest address of the kind that a recovery link may be sent to; `nil` if there is none.
    ///
    /// A phone number counts only if it was used as a proof within `limit`, an address only if an identity that is not
    /// quarantined has it, and its mail is forwarded.
    func recoveryAddress(
        of uid: UUID, _ kind: Address.Kind, usedWithin limit: Duration, application: Application.ID
    ) async throws -> Address?

    /// Removes the passwords of a locked account.
    /// - Returns: whether it had any.
    func removePasswords(of uid: UUID, application: Application.ID) async throws -> Bool
}
