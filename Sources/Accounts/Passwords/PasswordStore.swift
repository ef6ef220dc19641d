package import Foundation
package import ProviderKit

/// The pseudonym under which failures of a subject are counted, since addresses without an account must not be stored.
package struct AttemptKey: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }
}

/// Everything that a password check of one subject depends on, read in one statement.
package struct PasswordState: Sendable {
    package var identity: KnownIdentity?
    package var hash: PasswordHash?
    package var mustChange: Bool
    /// The password of a pending registration, or of a decoy (`NewRegistration.isDecoy`) if the address is taken.
    package var registration: PasswordHash?
    /// Whether an account has the identity or owns the address.
    package var isTaken: Bool
    /// The languages of the owner of a taken address.
    package var ownerLanguages: String?
    /// How long the subject remains locked; `nil` if it is not locked.
    package var lockedFor: Duration?

    package init(
        identity: KnownIdentity?, hash: PasswordHash?, mustChange: Bool, registration: PasswordHash?, isTaken: Bool,
        ownerLanguages: String?, lockedFor: Duration?
    ) {
        (self.identity, self.hash, self.mustChange, self.registration) = (identity, hash, mustChange, registration)
        (self.isTaken, self.ownerLanguages, self.lockedFor) = (isTaken, ownerLanguages, lockedFor)
    }
}

package struct NewRegistration: Sendable {
    package let id: UUID
    package let provider: String
    package let subject: PasswordSubject
    package let hash: PasswordHash
    package let displayName: String?
    /// Whether the address has an owner; the decoy's password gets the response for an unverified registration.
    package let isDecoy: Bool
    /// The account that it joins; `nil` if it creates one.
    package var joining: Joining?

    package struct Joining: Sendable {
        package let uid: UUID
        package let onConflict: ConflictChoice

        package init(uid: UUID, onConflict: ConflictChoice) { (self.uid, self.onConflict) = (uid, onConflict) }
    }

    /// How long the registration and its token are valid: a day, since people may read their mail late.
    package static let lifetime: Duration = .seconds(86400)
}

/// A stored registration, without its subject.
package struct PendingRegistration: Sendable {
    package let hash: PasswordHash
    package let displayName: String?
    package let joining: NewRegistration.Joining?

    package init(hash: PasswordHash, displayName: String?, joining: NewRegistration.Joining?) {
        (self.hash, self.displayName, self.joining) = (hash, displayName, joining)
    }
}

package struct PasswordIdentity: Sendable {
    package let id: UUID
    package let subject: PasswordSubject
    package let hash: PasswordHash?
    /// The password of the decoy (`NewRegistration.isDecoy`) that was stored because a person tried to register this
    /// identity's address, although the account has it already; `nil` if there is none.
    ///
    /// It shares the salt of `hash`, so that one run of the hash function checks both passwords.
    package let decoy: PasswordHash?

    package init(id: UUID, subject: PasswordSubject, hash: PasswordHash?, decoy: PasswordHash?) {
        (self.id, self.subject, self.hash, self.decoy) = (id, subject, hash, decoy)
    }
}

package protocol PasswordAttemptStore: Sendable {
    func passwordState(of subject: PasswordSubject, provider: String, attempts: AttemptKey, application: Application.ID)
        async throws -> PasswordState

    /// Ten consecutive failures lock the subject for a minute; each further failure doubles the time, up to 15 minutes.
    /// - Returns: `false` if the subject was already locked and the failure was not counted.
    func recordFailure(
        _ attempts: AttemptKey, of subject: PasswordSubject, provider: String, from source: RefusalSource,
        application: Application.ID
    ) async throws -> Bool

    func clearFailures(_ attempts: AttemptKey, application: Application.ID) async throws
}

package protocol RegistrationStore: Sendable {
    /// Stores a registration, which replaces an earlier one of the subject.
    /// - Throws: `StoreConflict` if the owner has changed since `isDecoy` was determined, unless it joins an account.
    func register(_ registration: NewRegistration, application: Application.ID) async throws

    /// Returns the registration that the proof confirms; `nil` if it was replaced or is a decoy.
    func registration(of proof: Proof, application: Application.ID) async throws -> PendingRegistration?
    /// Removes and returns the registration that the proof confirms; `nil` if it was replaced.
    func takeRegistration(of proof: Proof, application: Application.ID) async throws -> PendingRegistration?
}

package protocol PasswordStore: Sendable {
    /// Returns the account's identities with an address: the preferred one, then those with a password, then others.
    func passwordIdentities(
        of uid: UUID, provider: String, preferring providerUid: String?, application: Application.ID
    ) async throws -> [PasswordIdentity]

    /// Sets a password and withdraws an admin's request to change it.
    ///
    /// With `provingMailbox`, a link that was mailed to the identity's own address has set it.
    /// - Throws: `StoreConflict` if the account `uid` does not have the identity, or if the stored hash differs from
    ///   `expected`; `nil` replaces any hash.
    func setPassword(
        _ hash: PasswordHash, of identity: UUID, ownedBy uid: UUID, replacing expected: PasswordHash?,
        provingMailbox: Bool, application: Application.ID
    ) async throws
}

extension PasswordStore {
    /// Sets a password that no mailed link has set.
    package func setPassword(
        _ hash: PasswordHash, of identity: UUID, ownedBy uid: UUID, replacing expected: PasswordHash?,
        application: Application.ID
    ) async throws {
        try await setPassword(
            hash, of: identity, ownedBy: uid, replacing: expected, provingMailbox: false, application: application)
    }

    /// Returns the principal's identities of the application's password provider, the principal's own one first.
    func passwordIdentities(of principal: Principal) async throws -> [PasswordIdentity] {
        let provider = try principal.application.providers.passwordProvider().0.name
        return try await passwordIdentities(
            of: principal.uid, provider: provider,
            preferring: principal.provider == provider ? principal.providerUid : nil,
            application: principal.application.id)
    }
}

package protocol PasswordRehashStore: Sendable {
    /// Stores a hash of the same password with newer parameters.
    /// - Throws: `StoreConflict` if the stored hash has changed, or a decoy shares its salt.
    func rehash(_ hash: PasswordHash, to renewed: PasswordHash, of identity: UUID, application: Application.ID)
        async throws
}
