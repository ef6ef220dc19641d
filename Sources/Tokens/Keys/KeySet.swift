/// What one application signs with and publishes, at one moment.
struct KeySet: Sendable {
    /// `nil` only before the application's first start.
    let signing: SigningKey?
    /// What signs certificates of erasure; none until the first of those.
    let certifying: SigningKey?
    /// The JWK Set document (RFC 7517 section 5), with every key that ever signed a certificate.
    let document: [UInt8]
    /// The signing one and the retired ones: hardly ever more than two, so looking through them beats hashing.
    ///
    /// Not those of certificates: what they have signed is no access token.
    private let published: [SigningKey]

    init(signing: SigningKey?, published: [SigningKey], certifying: SigningKey?, certified: [SigningKey]) {
        self.signing = signing
        self.published = published
        self.certifying = certifying
        let keys = (published + certified).map(\.publicKey.json).joined(separator: ",")
        document = Array(#"{"keys":[\#(keys)]}"#.utf8)
    }

    func key(withHeader header: ArraySlice<UInt8>) -> SigningKey? {
        published.first { $0.header.elementsEqual(header) }
    }

    func publishes(_ kid: String) -> Bool {
        published.contains { $0.kid == kid }
    }
}
