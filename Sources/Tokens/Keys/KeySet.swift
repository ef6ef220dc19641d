import Accounts
import ProviderKit

/// An immutable snapshot of the keys of one application; a class, because each request reads it.
final class KeySet: Sendable {
    /// The key that signs access tokens; `nil` only before the application's first start.
    let signing: SigningKey?
    /// The key that signs ID tokens and logout tokens; `nil` if the application is not an OpenID provider.
    let identifying: SigningKey?
    /// The key that signs certificates of erasure; `nil` until the first certificate.
    let certifying: SigningKey?
    /// The JWK Set document (RFC 7517 section 5), including all keys that ever signed a certificate.
    let document: [UInt8]
    /// The current and the retired keys of access tokens; there are rarely more than two, so a linear search is fast.
    private let published: [SigningKey]
    /// The current and the retired keys of ID tokens.
    private let publishedForIdentity: [SigningKey]

    init(
        signing: SigningKey?, published: [SigningKey], identifying: SigningKey? = nil,
        publishedForIdentity: [SigningKey] = [], certifying: SigningKey?, certified: [SigningKey]
    ) {
        (self.signing, self.published, self.certifying) = (signing, published, certifying)
        (self.identifying, self.publishedForIdentity) = (identifying, publishedForIdentity)
        let keys = (published + publishedForIdentity + certified).map(\.publicKey.json).joined(separator: ",")
        document = Array(#"{"keys":[\#(keys)]}"#.utf8)
    }

    func key(withHeader header: ArraySlice<UInt8>) -> SigningKey? {
        published.first { $0.header.elementsEqual(header) }
    }

    func signing(_ purpose: SigningPurpose) -> SigningKey? {
        switch purpose {
        case .accessTokens: signing
        case .identityTokens: identifying
        case .erasures: certifying
        }
    }

    /// The published key for tokens of OpenID clients with this `kid`.
    func key(_ kid: String, for purpose: SigningPurpose) -> SigningKey? {
        let keys = purpose == .accessTokens ? published : publishedForIdentity
        return keys.first { $0.kid.hasSameBytes(as: kid) }
    }

    func publishes(_ kid: String) -> Bool { published.contains { $0.kid == kid } }
}
