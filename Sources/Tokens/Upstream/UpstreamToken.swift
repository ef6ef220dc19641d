internal import Foundation
internal import ProviderKit

/// A token of another issuer, parsed strictly but not verified.
struct UpstreamToken {
    let algorithm: TokenRules.Algorithm
    let kid: String?
    /// Whether it has no explicit type (RFC 8725, 3.11), and is no event (RFC 8417).
    let mayBeIDToken: Bool
    let claims: TokenClaims
    /// The encoded header and payload with the dot between them (RFC 7515, 5.2).
    let signingInput: [UInt8]
    let signature: [UInt8]

    /// The largest length of a token that is parsed, far above that of any real token.
    private static let lengthLimit = 32 * 1024

    /// Parses a token; `nil` unless the header has a supported algorithm, no critical extension (RFC 7515, 4.1.11) and
    /// an encoded payload (RFC 7797).
    ///
    /// Repeated member names are refused (RFC 8725, 2.4), because parsers differ in which of the values they use.
    init?(_ text: String) {
        guard text.utf8.count <= Self.lengthLimit, let jws = CompactJWS(text),
            let header = Base64URL.decode(jws.header),
            let fields = Self.object(header), let claims = Self.object(jws.payload),
            let algorithm = fields["alg"]?.string.flatMap({ TokenRules.Algorithm(bytesOf: $0) }),
            fields["crit"] == nil, fields["b64"] == nil || fields["b64"] == .bool(true)
        else { return nil }
        switch fields["kid"] {
        case nil: kid = nil
        case .string(let value): kid = value
        default: return nil
        }
        mayBeIDToken = fields["typ"]?.string?.lowercased().hasSuffix("+jwt") != true && claims["events"] == nil
        self.algorithm = algorithm
        self.claims = TokenClaims(claims)
        signingInput = Array(jws.signingInput)
        signature = jws.signature
    }

    private static func object(_ json: [UInt8]) -> [String: JSONValue]? {
        JSONValue(json: json, refusingRepeatedNames: true)?.object
    }
}
