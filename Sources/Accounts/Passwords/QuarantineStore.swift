package import Foundation
package import ProviderKit

/// What a password reset takes from people who got into the account before it, and how its owner gives it back.
package protocol QuarantineStore: Sendable {
    /// Ends what an account and its sessions have begun and not finished: changes of address, registrations and flows
    /// that link, codes asked for with a bearer, and every ticket. The caller has locked the account.
    func endPending(of uid: UUID, application: Application.ID) async throws

    /// Identities that were linked within that time open no session from now on.
    ///
    /// The one of the subject, and those that prove its address, stay as they are.
    func quarantine(
        identitiesOf uid: UUID, linkedWithin time: Duration, butNot subject: PasswordSubject, provider: String,
        application: Application.ID
    ) async throws

    func liftQuarantine(of identities: [UUID], uid: UUID, application: Application.ID) async throws

    /// When the identity's password was set; `nil` where it has none.
    func passwordChangedAt(of identity: UUID, application: Application.ID) async throws -> Date?
}
