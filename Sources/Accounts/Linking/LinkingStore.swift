package import Foundation
package import ProviderKit

/// A session to be opened by a piece of evidence.
package struct SessionOpening: Sendable {
    package let session: NewSession
    package let evidence: VerifiedIdentity
    /// The provider's configured name.
    package let provider: String
    package let application: Int32

    package init(session: NewSession, evidence: VerifiedIdentity, provider: String, application: Int32) {
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
    func linkingState(
        for evidence: VerifiedIdentity, provider: String, application: Int32
    ) async throws -> LinkingState

    /// - Throws: `StoreConflict` when the account is not live any more, or the password is another by now.
    func openSession(
        _ opening: SessionOpening, identity: KnownIdentity, password: PasswordPermission?
    ) async throws -> OpenedSession

    /// - Throws: `StoreConflict` when the identity is known by now, or an address is owned.
    func createAccount(_ opening: SessionOpening, claiming addresses: [Address]) async throws -> OpenedSession

    /// - Throws: `StoreConflict` likewise, or when the account is not live any more.
    func join(
        _ opening: SessionOpening, to uid: UUID, claiming addresses: [Address]
    ) async throws -> OpenedSession
}
