/// A compact serialisation (RFC 7515 section 7.1), split and not yet believed.
struct CompactJWS {
    /// In base64url, as is what was signed.
    let header: ArraySlice<UInt8>
    /// The first two parts with their dot (RFC 7515 section 5.2).
    let signingInput: ArraySlice<UInt8>
    let payload: [UInt8]
    let signature: [UInt8]

    /// `nil` unless there are exactly three parts, the latter two in canonical base64url.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2])
        else { return nil }
        header = parts[0]
        signingInput = bytes[..<parts[1].endIndex]
        self.payload = payload
        self.signature = signature
    }
}
