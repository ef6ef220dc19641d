internal import Crypto
internal import Foundation

/// How a provider treats the nonce of ID tokens that an app presents (OpenID Connect Core, 3.1.2.1).
public enum NonceRule: String, Sendable, Decodable, CaseIterable {
    /// Every token has one.
    case required
    /// A token may lack one; one that has it is taken with it alone.
    case optional
    /// Nobody looks.
    case off

    /// What the setting `nonce` of a provider takes.
    public static var choices: [String] { allCases.map(\.rawValue) }

    /// Whether a token whose claim is `claim` may be presented with the raw value `presented`.
    ///
    /// The claim is the raw value or its SHA-256 in lower-case hex: some services hash it on the device.
    /// - Throws: `ProviderError.refused`.
    public func check(claim: JSONValue, presented: String?) throws {
        guard self != .off else { return }
        guard !claim.isNull || presented != nil else {
            guard self == .optional else { throw ProviderError.refused }
            return
        }
        guard let claim = claim.string, let presented, !presented.isEmpty,
            claim.hasSameBytes(as: presented)
                || claim.hasSameBytes(as: Array(SHA256.hash(data: Data(presented.utf8))).hex)
        else { throw ProviderError.refused }
    }
}
