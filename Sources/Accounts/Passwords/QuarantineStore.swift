package import Foundation

package protocol QuarantineStore: Sendable {
    func liftQuarantine(of identities: [UUID], uid: UUID, application: Application.ID) async throws

    /// Confirms the subject of a sign-in ticket, after another sign-in to the account presented the ticket.
    ///
    /// Ends the quarantine of the identity with that subject and of identities with the subject as their address. If
    /// the subject is a phone number, it is no longer idle.
    func confirm(_ proof: Proof, of uid: UUID, application: Application.ID) async throws
}
