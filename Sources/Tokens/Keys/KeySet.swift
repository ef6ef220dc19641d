import Accounts
import ProviderKit

/// An immutable snapshot of the keys of one application; a class, because each request reads it.
final class KeySet: Sendable {
    /// The JWK Set document (RFC 7517 section 5), including all keys that ever signed a certificate.
    let document: [UInt8]
    /// The key that signs, by purpose; a purpose that was never needed has none.
    private let signing: [SigningPurpose: SigningKey]
    /// The current and the retired keys; a purpose rarely has more than two, so a linear search is fast.
    private let published: [SigningPurpose: [SigningKey]]

    /// `keys` has all published keys.
    init(_ keys: [(stored: StoredSigningKey, key: SigningKey)]) {
        let current = keys.filter { $0.stored.retiredAt == nil }.map { ($0.stored.purpose, $0.key) }
        signing = Dictionary(current) { first, _ in first }
        let published = Dictionary(grouping: keys, by: \.stored.purpose).mapValues { $0.map(\.key) }
        let purposes: [SigningPurpose] = [.accessTokens, .identityTokens, .erasures]
        let json = purposes.flatMap { published[$0] ?? [] }.map(\.publicKey.json).joined(separator: ",")
        document = Array(#"{"keys":[\#(json)]}"#.utf8)
        self.published = published
    }

    func signing(_ purpose: SigningPurpose) -> SigningKey? { signing[purpose] }

    /// The published key of the purpose with this `kid`.
    func key(_ kid: String, for purpose: SigningPurpose) -> SigningKey? {
        published[purpose]?.first { $0.kid.hasSameBytes(as: kid) }
    }

    func publishes(_ kid: String) -> Bool { published[.accessTokens]?.contains { $0.kid == kid } ?? false }
}
