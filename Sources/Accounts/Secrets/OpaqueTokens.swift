/// Random secrets that a client holds and the database knows by hash alone.
package protocol OpaqueTokens: Sendable {
    /// 32 random bytes in base64url, without padding.
    func make() -> OpaqueToken
    /// `nil` when the text is not one that `make` or `successor` could have given.
    func parse(_ text: String) -> OpaqueToken?
    /// HMAC-SHA256 of the token under a key outside the database: whoever presents the same token gets the same
    /// successor, though nothing is stored in clear.
    func successor(of token: OpaqueToken) -> OpaqueToken
    /// HMAC-SHA256 of the token under that same key for another purpose: never stored, made again when it is needed.
    func derived(from token: OpaqueToken, for purpose: DerivedPurpose) -> OpaqueToken
    /// HMAC-SHA256 under a key outside the database of a value that the database may compare but not read.
    func pseudonym(of value: String, purpose: String) -> [UInt8]
}

/// What is derived from a token beside its successor.
package enum DerivedPurpose: String, Sendable {
    /// The nonce of a redirect flow, from its state.
    case flowNonce
    /// Our proof key towards a provider (RFC 7636), from the flow's state.
    case flowProofKey
    /// The refresh token of a seeded session, from its account's uid: whoever has the keys can present it.
    case seededSession
    /// The password of all people seeded in an application, from its name.
    case seededPassword
}

package struct OpaqueToken: Sendable, Hashable {
    package let text: String
    /// SHA-256 of the 32 bytes; what the database stores.
    package let hash: [UInt8]

    package init(text: String, hash: [UInt8]) {
        self.text = text
        self.hash = hash
    }
}
