package import Foundation
package import ProviderKit

/// A session to be opened by a piece of evidence.
package struct SessionOpening: Sendable {
    package var session: NewSession
    package let evidence: VerifiedIdentity
    /// The provider's configured name.
    package let provider: String
    package let application: Application.ID
    /// Set by a password reset: the password that the account gets when it is restored.
    var newPassword: PasswordHash?

    package init(session: NewSession, evidence: VerifiedIdentity, provider: String, application: Application.ID) {
        self.session = session
        self.evidence = evidence
        self.provider = provider
        self.application = application
    }
}

/// The password that lets a session be opened.
///
/// The statement that opens it locks the row and checks that it still holds, and that the subject is not locked by now;
/// success ends the run of failures.
package struct PasswordPermission: Sendable {
    package let hash: PasswordHash
    package let attempts: AttemptKey

    package init(hash: PasswordHash, attempts: AttemptKey) {
        self.hash = hash
        self.attempts = attempts
    }
}

/// Carries out the verdicts.
///
/// Each call is one statement whose conditions repeat what the verdict rests on.
package protocol LinkingStore: Sendable {
    /// A phone number is idle if it was not used as a proof for `idleLimit`. An address needs a second proof if only
    /// quarantined identities have it. The caller checks whether the account has another way in.
    func linkingState(
        for evidence: VerifiedIdentity, provider: String, idleLimit: Duration, application: Application.ID
    ) async throws -> LinkingState

    /// - Throws: `StoreConflict` when the account is not live any more, the password is another by now, or the identity
    ///   was quarantined, or is no longer.
    func openSession(
        _ opening: SessionOpening, identity: KnownIdentity, password: PasswordPermission?
    ) async throws -> OpenedSession

    /// - Throws: `StoreConflict` when the identity is known by now, or an address is owned.
    func createAccount(_ opening: SessionOpening, with identity: NewIdentity) async throws -> OpenedSession

    /// - Throws: `StoreConflict` likewise, or when the account is not live any more.
    func add(_ identity: NewIdentity, of opening: SessionOpening, to uid: UUID) async throws -> KnownIdentity

    /// Drops the guest's identity in favour of one that was just added: its sessions go on as that one's, and the
    /// session gets a further refresh token.
    ///
    /// - Throws: `StoreConflict` when the session has ended.
    func upgradeGuest(
        _ opening: SessionOpening, identity: KnownIdentity, keeping session: UUID
    ) async throws -> OpenedSession

    /// Remembers where a guest, whose session has ended, went.
    func note(successor uid: UUID, ofGuest session: UUID, application: Application.ID) async throws

    /// Takes a phone number from an account that the caller has locked; identities that are that number go, or become a
    /// guest's where somebody is still signed in by them.
    func displace(_ owner: AddressOwner, application: Application.ID) async throws -> Displacement

    /// Trusts what the ticket of a second proof was about: another sign-in of the account came with it.
    ///
    /// The quarantine ends of that identity, and of those that show it as their address; a number is not idle any more.
    func confirm(_ proof: Proof, of uid: UUID, application: Application.ID) async throws
}

/// What is left of an account that lost its number.
package enum Displacement: Sendable {
    /// A session, or another identity.
    case inUse
    case stranded
}
