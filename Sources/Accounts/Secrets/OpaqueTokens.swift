/// Random secrets for clients.
///
/// The database stores only their hashes.
package protocol OpaqueTokens: Sendable {
    /// 32 random bytes in base64url, without padding.
    func make() -> OpaqueToken
    /// `nil` when the text is not a possible result of `make` or `successor`.
    func parse(_ text: String) -> OpaqueToken?
    /// HMAC-SHA256 of the token under a key outside the database, so that the same token always has the same successor
    /// and the database stores neither.
    func successor(of token: OpaqueToken) -> OpaqueToken
    /// HMAC-SHA256 of the token under the same key for another purpose. Never stored, but derived when needed.
    func derived(from token: OpaqueToken, for purpose: DerivedPurpose) -> OpaqueToken
    /// HMAC-SHA256, under a key outside the database, of a value that the database compares but must not learn.
    func pseudonym(of value: String, purpose: String) -> [UInt8]
}

/// What is derived from a token besides its successor.
package enum DerivedPurpose: String, Sendable {
    /// The nonce of a redirect flow, from its state.
    case flowNonce
    /// The code verifier towards a provider (RFC 7636), from the flow's state.
    case flowProofKey
}

package struct OpaqueToken: Sendable, Hashable {
    package let text: String
    /// SHA-256 of the 32 bytes, as stored in the database.
    package let hash: [UInt8]

    package init(text: String, hash: [UInt8]) {
        self.text = text
        self.hash = hash
    }
}
