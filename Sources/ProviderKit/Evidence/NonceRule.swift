/// How a provider checks the nonce of ID tokens that an app presents (OpenID Connect Core, 3.1.2.1).
public enum NonceRule: String, Sendable, Decodable, CaseIterable {
    /// A token must have a nonce.
    case required
    /// A token may lack a nonce. If it has one, it must match.
    case optional
    /// Nonces are not checked.
    case off

    /// The values of the setting `nonce`.
    public static var choices: [String] { allCases.map(\.rawValue) }

    /// Checks the claim of a token against the raw nonce that was presented with it.
    ///
    /// The claim is the raw nonce or its SHA-256 in lower-case hex, because some SDKs hash it on the device.
    /// - Throws: `ProviderError.refused` if the nonces do not match, or a required one is absent.
    public func check(claim: JSONValue, presented: String?) throws {
        guard self != .off else { return }
        guard !claim.isNull || presented != nil else {
            guard self == .optional else { throw ProviderError.refused }
            return
        }
        guard let claim = claim.string, let presented, !presented.isEmpty,
            claim.hasSameBytes(as: presented) || claim.hasSameBytes(as: Digest.sha256(of: presented).hex)
        else { throw ProviderError.refused }
    }
}
