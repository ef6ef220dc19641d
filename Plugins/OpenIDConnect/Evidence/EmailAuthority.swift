internal import ProviderKit

/// The addresses that an issuer has authority over.
enum EmailAuthority: Sendable {
    /// Verified addresses, if `trustEmail` is set.
    case word
    /// As `word`, and always gmail.com and the domain that Google hosts for the person's organisation.
    case google
    /// Only addresses whose domain's owner Microsoft verified (`xms_edov`), regardless of `trustEmail`: the administrator
    /// of any tenant can set `email` to any address.
    case microsoft

    /// The claim to an address; `saidVerified` is `email_verified` of the same document.
    ///
    /// The special rules apply to the issuer's standard claims only. With mapped claims Google's addresses count as by
    /// `word`, and Microsoft's never.
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
        // The claim must be normalised like the address.
        return hostedDomain.flatMap { EmailAddress("x@\($0)") }?.domain == email.domain
    }
}

extension JSONValue {
    /// Microsoft sends a boolean, or one written as a string or a number.
    fileprivate var isMicrosoftTrue: Bool {
        switch self {
        case .bool(let value): value
        case .integer(let value): value == 1
        case .string(let value): value.hasSameBytes(as: "1") || value.hasSameBytes(ignoringCaseAs: "true")
        default: false
        }
    }
}
