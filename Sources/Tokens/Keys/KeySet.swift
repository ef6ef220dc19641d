/// What one application signs with and publishes, at one moment.
struct KeySet: Sendable {
    /// `nil` only before the application's first start.
    let signing: SigningKey?
    /// The JWK Set document (RFC 7517 section 5).
    let document: [UInt8]
    /// The signing one and the retired ones: hardly ever more than two, so looking through them beats hashing.
    private let published: [SigningKey]

    init(signing: SigningKey?, published: [SigningKey]) {
        self.signing = signing
        self.published = published
        let keys = published.map(\.publicKey.json).joined(separator: ",")
        document = Array(#"{"keys":[\#(keys)]}"#.utf8)
    }

    func key(withHeader header: ArraySlice<UInt8>) -> SigningKey? {
        published.first { $0.header.elementsEqual(header) }
    }

    func publishes(_ kid: String) -> Bool {
        published.contains { $0.kid == kid }
    }
}
