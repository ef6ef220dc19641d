package import Foundation
package import ProviderKit

/// What a code may be used for.
package enum ChallengePurpose: Sendable, Equatable {
    /// Proves the address: to sign in, link or re-authenticate.
    case proof
    /// Gives this identity the address.
    case addressChange(UUID)
}

/// A code to issue.
///
/// The database stores only its keyed hash.
package struct NewChallenge: Sendable {
    package let id: UUID
    package let purpose: ChallengePurpose
    package let provider: String
    package let target: ChallengeTarget
    /// HMAC of the id and the code, under a key outside the database.
    package let hash: [UInt8]
    /// HMAC of the code alone, which the database stores only hashed with the id.
    package let code: [UInt8]
    /// A keyed pseudonym of the client's network.
    package let network: [UInt8]
    /// The only session that may present the code; `nil` for any client that has the id.
    package let session: UUID?
    package let lifetime: Duration
    /// How long further requests send no new code.
    package let resendAfter: Duration
}

/// The challenge that a request for a code gets.
package struct IssuedChallenge: Sendable {
    package let id: UUID
    /// Whether a code must be sent.
    ///
    /// Otherwise the challenge is for the code that was sent before.
    package let isNew: Bool
    /// The time since the code was issued.
    package let age: Duration

    package init(id: UUID, isNew: Bool, age: Duration) {
        self.id = id
        self.isNew = isNew
        self.age = age
    }
}

/// A presented code.
package struct ChallengeResponse: Sendable {
    package let id: UUID
    package let purpose: ChallengePurpose
    package let provider: String
    package let hash: [UInt8]
    package let code: [UInt8]
    package let session: UUID?
    /// Counts a wrong code if the address has no account.
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
