internal import ProviderKit

/// For which addresses an issuer may speak.
enum EmailAuthority: Sendable {
    /// For those that an admin takes its word for.
    case word
    /// Besides, for gmail.com, and for the domain that the person's organisation hosts there.
    case google
    /// For those alone whose domain's owner it knows (`xms_edov`), whatever an admin says: any tenant's admin may write
    /// anybody's address into `email`.
    case microsoft

    /// A claim to the address, if the text is one; `saidVerified` is what stands beside it in the same document.
    ///
    /// The special rules are about the issuer's own claims: where others are mapped, only its word is left, and
    /// Microsoft has none.
    func claim(
        _ text: String, saidVerified: Bool, in document: JSONValue, isMapped: Bool, trustsEmail: Bool
    ) -> AddressClaim? {
        guard let email = EmailAddress(text) else { return nil }
        let isVerified: Bool
        let isAuthoritative: Bool
        switch self {
        case .word:
            isVerified = saidVerified
            isAuthoritative = saidVerified && trustsEmail
        case .google:
            isVerified = saidVerified
            let isOwn = !isMapped && Self.isGoogles(email, hostedDomain: document["hd"].string)
            isAuthoritative = saidVerified && (trustsEmail || isOwn)
        case .microsoft:
            isVerified = !isMapped && document["xms_edov"].isMicrosoftTrue
            isAuthoritative = isVerified
        }
        return AddressClaim(email: text, isVerified: isVerified, isAuthoritative: isAuthoritative)
    }

    private static func isGoogles(_ email: EmailAddress, hostedDomain: String?) -> Bool {
        if email.domain == "gmail.com" || email.domain == "googlemail.com" { return true }
        // The claim goes through the same normalisation as the address.
        return hostedDomain.flatMap { EmailAddress("x@\($0)") }?.domain == email.domain
    }
}

extension JSONValue {
    /// Microsoft sends a truth value, or one written as a text or a number.
    fileprivate var isMicrosoftTrue: Bool {
        switch self {
        case .bool(let value): value
        case .integer(let value): value == 1
        case .string(let value): value.hasSameBytes(as: "1") || value.hasSameBytes(ignoringCaseAs: "true")
        default: false
        }
    }
}
