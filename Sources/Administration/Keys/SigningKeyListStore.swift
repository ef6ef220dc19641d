package import Accounts
package import Foundation

/// A signing key without its private part.
package struct ListedSigningKey: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        /// New tokens are signed with it.
        case signing
        /// Tokens that it has signed are accepted.
        case published
        /// Tokens that it has signed are refused.
        case retired
    }

    package let kid: String
    package let purpose: SigningPurpose
    package let algorithm: String
    /// The length of an RSA modulus; 0 for other algorithms.
    package let bits: Int
    package let state: State
    package let createdAt: Date
    /// When the key stopped signing.
    package let retiredAt: Date?
    package let publishedUntil: Date?

    package init(
        kid: String, purpose: SigningPurpose, algorithm: String, bits: Int, state: State, createdAt: Date,
        retiredAt: Date?, publishedUntil: Date?
    ) {
        (self.kid, self.purpose, self.algorithm, self.bits, self.state) = (kid, purpose, algorithm, bits, state)
        (self.createdAt, self.retiredAt, self.publishedUntil) = (createdAt, retiredAt, publishedUntil)
    }
}

package protocol SigningKeyListStore: Sendable {
    /// The application's keys of all purposes, the newest first.
    func listedSigningKeys(application: Application.ID) async throws -> [ListedSigningKey]
}
