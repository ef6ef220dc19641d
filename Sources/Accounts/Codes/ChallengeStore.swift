package import Foundation
package import ProviderKit

/// What a code is good for.
package enum ChallengePurpose: Sendable, Equatable {
    /// Whatever proves the address: signing in, linking, authenticating anew.
    case proof
    /// Giving this identity the address.
    case addressChange(UUID)
}

/// A code to be issued; the database keeps its keyed hash alone.
package struct NewChallenge: Sendable {
    package let id: UUID
    package let purpose: ChallengePurpose
    /// The provider's configured name.
    package let provider: String
    package let target: ChallengeTarget
    /// HMAC of the id and the code, under a key outside the database.
    package let hash: [UInt8]
    /// HMAC of the code alone; the database keeps it only hashed with the id.
    package let code: [UInt8]
    /// The client's, by a keyed pseudonym.
    package let network: [UInt8]
    /// The one session that may answer; `nil` for anyone who has the id.
    package let session: UUID?
    package let lifetime: Duration
    /// For how long a further request sends no other code.
    package let resendAfter: Duration
}

/// The challenge that a request for a code got.
package struct IssuedChallenge: Sendable {
    package let id: UUID
    /// A code has to be sent; otherwise the challenge is for the one that was sent before.
    package let isNew: Bool
    /// Since the code was issued.
    package let age: Duration

    package init(id: UUID, isNew: Bool, age: Duration) {
        self.id = id
        self.isNew = isNew
        self.age = age
    }
}

/// A code as it was presented.
package struct ChallengeResponse: Sendable {
    package let id: UUID
    package let purpose: ChallengePurpose
    package let provider: String
    package let hash: [UInt8]
    package let code: [UInt8]
    package let session: UUID?
    /// Where a wrong code is counted if the address has no account.
    package let source: RefusalSource
}

/// Challenges of one-time codes.
package protocol ChallengeStore: Sendable {
    /// Replaces an earlier challenge of the target and session unless that is younger than `resendAfter`. In that case
    /// the same network gets the same id again, and another network gets an id of its own.
    func issue(_ challenge: NewChallenge, application: Application.ID) async throws -> IssuedChallenge

    /// Counts an attempt and judges it: at most five for each challenge and 500 wrong ones a day for each address, even
    /// if requests race.
    ///
    /// - Returns: the target of the code if it is right and the challenge is alive.
    func attempt(_ answer: ChallengeResponse, application: Application.ID) async throws -> ChallengeTarget?

    /// Ends the challenges of a subject.
    func endChallenges(provider: String, providerUid: String, application: Application.ID) async throws

    /// Ends the challenge of an identity's pending address change.
    func endAddressChange(of identity: UUID, application: Application.ID) async throws
}
