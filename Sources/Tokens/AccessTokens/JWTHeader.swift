import Accounts
import ProviderKit

/// The header of tokens: exactly `alg`, `kid` and `typ`, in this order.
///
/// A token's header must equal that of a key byte for byte. A token therefore cannot choose `alg`, point to keys with
/// `jku`, `jwk` or `x5u`, or require extensions with `crit` (RFC 8725 sections 3.1 and 3.2).
enum JWTHeader {
    /// The `typ` of the API's own access tokens.
    static let ownType = "JWT"

    static func encode(_ algorithm: SigningAlgorithm, kid: String, type: String = ownType) -> String {
        Base64URL.encode(Array(#"{"alg":"\#(algorithm.rawValue)","kid":"\#(kid)","typ":"\#(type)"}"#.utf8))
    }

    /// The `kid` of a header in exactly the form that `encode` creates; `nil` for any other header.
    static func kid(of header: some Collection<UInt8>, type: String = ownType) -> String? {
        guard let json = Base64URL.decode(header) else { return nil }
        let parts = json.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        guard parts.count == 13, let algorithm = SigningAlgorithm(bytesOf: String(decoding: parts[3], as: UTF8.self)),
            Base64URL.decode(parts[7])?.count == 32
        else { return nil }
        let kid = String(decoding: parts[7], as: UTF8.self)
        return encode(algorithm, kid: kid, type: type).utf8.elementsEqual(header) ? kid : nil
    }
}

extension SigningKey {
    /// Signs a payload as a JWS in compact serialisation, whose header has this `typ`.
    func token(_ payload: some Collection<UInt8>, type: String) throws -> String {
        let input = "\(JWTHeader.encode(algorithm, kid: kid, type: type)).\(Base64URL.encode(payload))"
        return "\(input).\(Base64URL.encode(try sign(Array(input.utf8))))"
    }
}
