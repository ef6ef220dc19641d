package import Foundation
package import ProviderKit

package enum ChallengePurpose: Sendable, Equatable {
    /// Proves the address in order to sign in, link an identity or re-authenticate.
    case proof
    case addressChange(UUID)
}

/// The database stores only its keyed hash.
package struct NewChallenge: Sendable {
    package let id: UUID
    package let purpose: ChallengePurpose
    package let provider: String
    package let target: ChallengeTarget
    /// The HMAC of the id and the code, with a key that is stored outside the database.
    package let hash: [UInt8]
    /// The HMAC of the code alone, which the database stores only hashed with the id.
    package let code: [UInt8]
    /// A keyed pseudonym of the client's network.
    package let network: [UInt8]
    /// The only session that may present the code; `nil` for any client that has the id.
    package let session: UUID?
    package let lifetime: Duration
    /// How long further requests do not send a new code.
    package let resendAfter: Duration
}

/// The challenge that a request for a code creates or finds.
package struct IssuedChallenge: Sendable {
    package let id: UUID
    /// Whether a code must be sent; otherwise the challenge is for the code that was sent before.
    package let isNew: Bool
    package let age: Duration

    package init(id: UUID, isNew: Bool, age: Duration) { (self.id, self.isNew, self.age) = (id, isNew, age) }
}

package struct ChallengeResponse: Sendable {
    package let id: UUID
    package let purpose: ChallengePurpose
    package let provider: String
    package let hash, code: [UInt8]
    package let session: UUID?
    /// The source under which a wrong code for an address without an account is counted in the audit.
    package let source: RefusalSource
}

package protocol ChallengeStore: Sendable {
    /// Stores the challenge, which replaces an earlier one of the same target and session.
    ///
    /// If the earlier challenge is younger than `resendAfter`, it remains and no new code is issued: a client in the
    /// same network gets its id again, and a client in another network gets a new id for the same code.
    func issue(_ challenge: NewChallenge, application: Application.ID) async throws -> IssuedChallenge

    /// Counts an attempt and checks the code: a challenge allows five attempts, an address 500 wrong codes a day.
    /// - Returns: the target of the code; `nil` if the code is wrong, used or expired, or a limit is reached.
    func attempt(_ answer: ChallengeResponse, application: Application.ID) async throws -> ChallengeTarget?

    func endChallenges(provider: String, providerUid: String, application: Application.ID) async throws
    /// Ends the challenge of an identity's pending address change.
    func endAddressChange(of identity: UUID, application: Application.ID) async throws
}
