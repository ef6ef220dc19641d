internal import ProviderKit

/// The rule for which addresses an issuer is an authority.
enum EmailAuthority: Sendable {
    /// All addresses that the issuer states as verified, if `trustEmail` is set.
    case word
    /// Like `word`; in addition verified addresses at gmail.com, googlemail.com and the domain that Google hosts for
    /// the person's organisation, regardless of `trustEmail`.
    case google
    /// Only addresses for which Microsoft verified the owner of the domain (`xms_edov`), regardless of `trustEmail`,
    /// because the administrator of any tenant can set `email` to any address.
    case microsoft

    /// Evaluates an address that a document states; `saidVerified` is `email_verified` of the same document.
    ///
    /// The rules for Google's and Microsoft's domains apply only to the issuer's standard claims. If the configuration
    /// maps the claim, `google` is treated as `word`, and addresses of `microsoft` are not verified.
    func claim(
        _ text: String, saidVerified: Bool, in document: JSONValue, isMapped: Bool, trustsEmail: Bool
    ) -> AddressClaim? {
        guard let email = EmailAddress(text) else { return nil }
        let isVerified, isAuthoritative: Bool
        switch self {
        case .word:
            (isVerified, isAuthoritative) = (saidVerified, saidVerified && trustsEmail)
        case .google:
            let isOwn = !isMapped && Self.isGoogles(email, hostedDomain: document["hd"].string)
            (isVerified, isAuthoritative) = (saidVerified, saidVerified && (trustsEmail || isOwn))
        case .microsoft:
            isVerified = !isMapped && document["xms_edov"].isMicrosoftTrue
            isAuthoritative = isVerified
        }
        return AddressClaim(email: text, isVerified: isVerified, isAuthoritative: isAuthoritative)
    }

    private static func isGoogles(_ email: EmailAddress, hostedDomain: String?) -> Bool {
        if email.domain == "gmail.com" || email.domain == "googlemail.com" { return true }
        // Normalises the claim in the same way as the address.
        return hostedDomain.flatMap { EmailAddress("x@\($0)") }?.domain == email.domain
    }
}

extension JSONValue {
    /// Whether the value is true; Microsoft sends a Boolean, a string or a number.
    fileprivate var isMicrosoftTrue: Bool {
        switch self {
        case .bool(let value): value
        case .integer(let value): value == 1
        case .string(let value): value.hasSameBytes(as: "1") || value.hasSameBytes(ignoringCaseAs: "true")
        default: false
        }
    }
}
