/// Random secrets for clients, of which the database stores only the hashes.
package protocol OpaqueTokens: Sendable {
    /// 32 random bytes in base64url, without padding.
    func make() -> OpaqueToken
    /// Returns `nil` if the text does not have the form of a token.
    func parse(_ text: String) -> OpaqueToken?
    /// The HMAC-SHA256 of the token with a key outside the database, which therefore need not store either token.
    func successor(of token: OpaqueToken) -> OpaqueToken
    /// The HMAC-SHA256 of the token and another purpose, with the same key; derived when needed and never stored.
    func derived(from token: OpaqueToken, for purpose: DerivedPurpose) -> OpaqueToken
    /// The HMAC-SHA256 of a value that the database can compare but must not contain, with a key outside the database.
    func pseudonym(of value: String, purpose: String) -> [UInt8]
}

/// The purposes of values that are derived from a token, apart from its successor.
package enum DerivedPurpose: String, Sendable {
    /// The nonce of a redirect flow, from its state.
    case flowNonce
    /// The code verifier (RFC 7636) of the server's request to a provider, from the flow's state.
    case flowProofKey
}

package struct OpaqueToken: Sendable, Hashable {
    package let text: String
    /// SHA-256 of the 32 bytes, as stored in the database.
    package let hash: [UInt8]

    package init(text: String, hash: [UInt8]) { (self.text, self.hash) = (text, hash) }
}
