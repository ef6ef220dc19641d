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
    /// The one session that may answer; `nil` for whoever knows the id.
    package let session: UUID?
    package let lifetime: Duration
    /// For so long after it a further wish changes nothing.
    package let resendAfter: Duration
}

/// What became of the wish for a code.
package struct IssuedChallenge: Sendable {
    package let id: UUID
    /// A code has to be sent; else an earlier one is still under way.
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
package struct ChallengeAnswer: Sendable {
    package let id: UUID
    package let purpose: ChallengePurpose
    package let provider: String
    package let hash: [UInt8]
    package let session: UUID?
}

package protocol ChallengeStore: Sendable {
    /// Takes the place of an earlier challenge of the target and session, unless that is too young.
    func issue(_ challenge: NewChallenge, application: Int32) async throws -> IssuedChallenge

    /// Counts an attempt and judges it: of any number at once, five of a challenge are judged, and of an address as many
    /// as are allowed a day.
    ///
    /// - Returns: whose address it is, for the right code of a challenge that is alive.
    func attempt(_ answer: ChallengeAnswer, application: Int32) async throws -> ChallengeTarget?

    /// Ends the challenges of a subject.
    func endChallenges(provider: String, providerUid: String, application: Int32) async throws

    func endAddressChange(of identity: UUID, application: Int32) async throws
}
