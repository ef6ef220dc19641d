package import Foundation
package import ProviderKit

/// What a password reset revokes, in case somebody else had access to the account.
package protocol PasswordResetStore: Sendable {
    /// When the identity's password was set; `nil` if it has none.
    func passwordChangedAt(of identity: UUID, application: Application.ID) async throws -> Date?

    /// Ends what the account's sessions began and did not finish: address changes, registrations and redirect flows
    /// that link, codes requested with a bearer token, and tickets. Lock the account first.
    func endPending(of uid: UUID, application: Application.ID) async throws

    /// Quarantines identities that were linked within `time`: they open no session until another sign-in confirms them.
    ///
    /// Spares the subject's identity and those that prove its address.
    func quarantine(
        identitiesOf uid: UUID, linkedWithin time: Duration, butNot subject: PasswordSubject, provider: String,
        application: Application.ID
    ) async throws
}

/// Ends quarantines.
package protocol QuarantineStore: Sendable {
    func liftQuarantine(of identities: [UUID], uid: UUID, application: Application.ID) async throws

    /// Confirms what a sign-in ticket was issued for, after another sign-in of the account presented the ticket.
    ///
    /// Ends the quarantine of that identity and of those that show it as their address. A number is no longer idle.
    func confirm(_ proof: Proof, of uid: UUID, application: Application.ID) async throws
}
