/// A JWS in compact serialisation (RFC 7515 section 7.1), split into its parts but not verified.
struct CompactJWS {
    /// Far above the length of any real token of this server; longer ones are neither signed nor parsed.
    static let longestOwn = 16_384

    /// The header in base64url.
    let header: ArraySlice<UInt8>
    /// The encoded header and payload with the dot between them (RFC 7515 section 5.2).
    let signingInput: ArraySlice<UInt8>
    let payload, signature: [UInt8]

    /// Splits a text; `nil` unless it has exactly three parts, and payload and signature are canonical base64url.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2])
        else { return nil }
        header = parts[0]
        signingInput = bytes[..<parts[1].endIndex]
        (self.payload, self.signature) = (payload, signature)
    }
}
