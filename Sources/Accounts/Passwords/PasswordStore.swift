package import Foundation
package import ProviderKit

/// Under which failures to prove one subject are counted: a pseudonym, since most of what is typed at a login is
/// nobody's here.
package struct AttemptKey: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// Everything that bears on a password for one subject, read at once.
package struct PasswordState: Sendable {
    package var identity: KnownIdentity?
    package var hash: PasswordHash?
    package var mustChange: Bool
    /// The pending registration of a free address, or the decoy of a taken one.
    package var registration: PasswordHash?
    /// Some account has the identity or owns the address.
    package var isTaken: Bool
    /// What the owner of a taken address reads.
    package var ownerLanguages: String?
    /// How long the subject is still locked.
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

/// A registration that awaits its token.
package struct NewRegistration: Sendable {
    package let id: UUID
    package let provider: String
    package let subject: PasswordSubject
    package let hash: PasswordHash
    package let displayName: String?
    /// Kept for a taken address only so that it looks like any other.
    package let isDecoy: Bool
    /// The account that it joins, where it is not to open one.
    package var joining: Joining?

    package struct Joining: Sendable {
        package let uid: UUID
        package let onConflict: ConflictChoice

        package init(uid: UUID, onConflict: ConflictChoice) {
            self.uid = uid
            self.onConflict = onConflict
        }
    }

    /// As long as the token that confirms it.
    package static let lifetime: Duration = .seconds(86400)
}

package struct Registered: Sendable {
    package let hash: PasswordHash
    package let displayName: String?
    /// The account that it joins; `nil` where it opens one.
    package let joining: NewRegistration.Joining?

    package init(hash: PasswordHash, displayName: String?, joining: NewRegistration.Joining?) {
        self.hash = hash
        self.displayName = displayName
        self.joining = joining
    }
}

/// An identity of an account that has, or may have, a password.
package struct PasswordIdentity: Sendable {
    package let id: UUID
    package let subject: PasswordSubject
    package let hash: PasswordHash?
    /// Of somebody who registered the address meanwhile.
    package let decoy: PasswordHash?

    package init(id: UUID, subject: PasswordSubject, hash: PasswordHash?, decoy: PasswordHash?) {
        self.id = id
        self.subject = subject
        self.hash = hash
        self.decoy = decoy
    }
}

package protocol PasswordStore: Sendable {
    func passwordState(
        of subject: PasswordSubject, provider: String, attempts: AttemptKey, application: Application.ID
    ) async throws -> PasswordState

    /// Ten consecutive failures lock the subject for a minute, each further one twice as long, up to 15 minutes.
    ///
    /// - Returns: `false` when the subject is locked by now: such a failure doesn't count.
    func recordFailure(
        _ attempts: AttemptKey, of subject: PasswordSubject, provider: String, from source: RefusalSource,
        application: Application.ID
    ) async throws -> Bool

    func clearFailures(_ attempts: AttemptKey, application: Application.ID) async throws

    /// Takes the place of an earlier registration of the subject.
    /// - Throws: `StoreConflict` when the address is no longer free, or no longer taken, where that matters: one that joins
    ///   an account is the same for both.
    func register(_ registration: NewRegistration, application: Application.ID) async throws

    /// The registration that the proof is for; `nil` when another has taken its place, or it is a decoy.
    func registration(of proof: Proof, application: Application.ID) async throws -> Registered?

    /// Removes the registration that the proof is for; `nil` when another has taken its place.
    func takeRegistration(of proof: Proof, application: Application.ID) async throws -> Registered?

    /// The identities that have an address: first the one of that subject, then those with a password.
    func passwordIdentities(
        of uid: UUID, provider: String, preferring providerUid: String?, application: Application.ID
    ) async throws -> [PasswordIdentity]

    /// The same password under newer parameters.
    /// - Throws: `StoreConflict` when it is another by now, or a decoy shares its salt.
    func rehash(
        _ hash: PasswordHash, to renewed: PasswordHash, of identity: UUID, application: Application.ID) async throws

    /// Lifts an admin's wish for a new password.
    ///
    /// - Throws: `StoreConflict` when the hash is not `expected` any more; `nil` expects nothing.
    func setPassword(
        _ hash: PasswordHash, of identity: UUID, replacing expected: PasswordHash?, application: Application.ID)
        async throws

    /// Asks for a new password at the next sign-in.
    /// - Returns: whether the account has one.
    func requirePasswordChange(uid: UUID, application: Application.ID) async throws -> Bool
}
