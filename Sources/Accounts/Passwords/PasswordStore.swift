package import Foundation
package import ProviderKit

/// The pseudonym under which failures of one subject are counted, since most typed addresses have no account here.
package struct AttemptKey: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// Everything that a password check of one subject depends on, read in one statement.
package struct PasswordState: Sendable {
    package var identity: KnownIdentity?
    package var hash: PasswordHash?
    package var mustChange: Bool
    /// The pending registration of a free address, or the decoy registration of a taken one.
    package var registration: PasswordHash?
    /// Whether an account has the identity or owns the address.
    package var isTaken: Bool
    /// The languages of the owner of a taken address.
    package var ownerLanguages: String?
    /// How long the subject stays locked; `nil` if it is not locked.
    package var lockedFor: Duration?

    package init(
        identity: KnownIdentity?, hash: PasswordHash?, mustChange: Bool, registration: PasswordHash?, isTaken: Bool,
        ownerLanguages: String?, lockedFor: Duration?
    ) {
        self.identity = identity
        self.hash = hash
        self.mustChange = mustChange
        self.registration = registration
        self.isTaken = isTaken
        self.ownerLanguages = ownerLanguages
        self.lockedFor = lockedFor
    }
}

/// A registration that awaits confirmation.
package struct NewRegistration: Sendable {
    package let id: UUID
    package let provider: String
    package let subject: PasswordSubject
    package let hash: PasswordHash
    package let displayName: String?
    /// A registration of a taken address, stored only so that the address looks free.
    package let isDecoy: Bool
    /// The account that it joins; `nil` if it creates one.
    package var joining: Joining?

    package struct Joining: Sendable {
        package let uid: UUID
        package let onConflict: ConflictChoice

        package init(uid: UUID, onConflict: ConflictChoice) {
            self.uid = uid
            self.onConflict = onConflict
        }
    }

    /// The same as the lifetime of the token that confirms it.
    package static let lifetime: Duration = .seconds(86400)
}

/// A stored registration, without its subject.
package struct PendingRegistration: Sendable {
    package let hash: PasswordHash
    package let displayName: String?
    /// The account that it joins; `nil` if it creates one.
    package let joining: NewRegistration.Joining?

    package init(hash: PasswordHash, displayName: String?, joining: NewRegistration.Joining?) {
        self.hash = hash
        self.displayName = displayName
        self.joining = joining
    }
}

/// An identity that has or can have a password.
package struct PasswordIdentity: Sendable {
    package let id: UUID
    package let subject: PasswordSubject
    package let hash: PasswordHash?
    /// The decoy of a person who registered the address since.
    package let decoy: PasswordHash?

    package init(id: UUID, subject: PasswordSubject, hash: PasswordHash?, decoy: PasswordHash?) {
        self.id = id
        self.subject = subject
        self.hash = hash
        self.decoy = decoy
    }
}

/// Reads what a password check needs, and counts failures.
package protocol PasswordAttemptStore: Sendable {
    func passwordState(
        of subject: PasswordSubject, provider: String, attempts: AttemptKey, application: Application.ID
    ) async throws -> PasswordState

    /// Ten consecutive failures lock the subject for a minute; each further failure doubles the time, up to 15 minutes.
    ///
    /// - Returns: `false` when the subject was locked already and the failure did not count.
    func recordFailure(
        _ attempts: AttemptKey, of subject: PasswordSubject, provider: String, from source: RefusalSource,
        application: Application.ID
    ) async throws -> Bool

    func clearFailures(_ attempts: AttemptKey, application: Application.ID) async throws
}

/// Pending registrations.
package protocol RegistrationStore: Sendable {
    /// Replaces an earlier registration of the subject.
    /// - Throws: `StoreConflict` when the address has gained or lost an owner since. A registration that joins an
    ///   account does not depend on that.
    func register(_ registration: NewRegistration, application: Application.ID) async throws

    /// The registration of the proof; `nil` when it was replaced or is a decoy.
    func registration(of proof: Proof, application: Application.ID) async throws -> PendingRegistration?

    /// Removes and returns the registration of the proof; `nil` when it was replaced.
    func takeRegistration(of proof: Proof, application: Application.ID) async throws -> PendingRegistration?
}

/// Passwords of identities.
package protocol PasswordStore: Sendable {
    /// The account's identities that have an address: first the preferred one, then those with a password.
    func passwordIdentities(
        of uid: UUID, provider: String, preferring providerUid: String?, application: Application.ID
    ) async throws -> [PasswordIdentity]

    /// Sets a password and withdraws an admin's request to change it.
    ///
    /// - Throws: `StoreConflict` when the hash is no longer `expected`; with `nil` any hash is replaced.
    func setPassword(
        _ hash: PasswordHash, of identity: UUID, replacing expected: PasswordHash?, application: Application.ID
    ) async throws
}

/// Renews hashes of unchanged passwords.
package protocol PasswordRehashStore: Sendable {
    /// Stores the same password under newer parameters.
    /// - Throws: `StoreConflict` when the hash has changed, or a decoy shares its salt.
    func rehash(
        _ hash: PasswordHash, to renewed: PasswordHash, of identity: UUID, application: Application.ID
    ) async throws
}
