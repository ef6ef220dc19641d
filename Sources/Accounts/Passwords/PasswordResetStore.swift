package import Foundation
package import ProviderKit

/// Revokes access at a password reset, in case an intruder had access to the account.
package protocol PasswordResetStore: Sendable {
    /// When the identity's password was set; `nil` if it has none.
    func passwordChangedAt(of identity: UUID, application: Application.ID) async throws -> Date?
    /// Ends the unfinished changes, registrations, redirect flows, codes and tickets of a locked account's sessions.
    func endPending(of uid: UUID, application: Application.ID) async throws

    /// Quarantines the identities linked within `time` until another sign-in confirms them.
    ///
    /// The subject's own identity is spared, and so are those that were linked before it, unless a merge linked them
    /// together. With `nil`, only the identities `spared` are.
    func quarantine(
        identitiesOf uid: UUID, linkedWithin time: Duration, butNot subject: PasswordSubject?,
        sparing spared: Set<UUID>, provider: String, application: Application.ID) async throws
}
