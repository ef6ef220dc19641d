internal import ProviderKit

/// The URL at which a redirect flow has ended, as the app posts it whole (RFC 3986, 3).
///
/// It is compared and taken apart, but never followed.
struct ReturnURL: Sendable, Equatable {
    enum Outcome: Sendable, Equatable {
        case code(String, state: String)
        /// The name of an error (RFC 6749, 4.1.2.1).
        case error(String)
    }

    static let largest = 4096

    /// What stands before the query.
    let address: String
    let outcome: Outcome

    private static let malformed = APIError(.invalidParameter, "url is not a URL at which a sign-in has ended")

    /// - Throws: 400 for a URL that is too long or malformed, or that has a code and a state other than once each.
    init(_ text: String) throws {
        guard text.utf8.count <= Self.largest else {
            throw APIError(.invalidParameter, "url is longer than \(Self.largest) bytes")
        }
        let url = text.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard Self.isURI(text.utf8), let mark = url.firstIndex(of: UInt8(ascii: "?")) else { throw Self.malformed }
        address = String(Substring(url[..<mark]))
        guard Self.hasScheme(address.utf8) else { throw Self.malformed }
        // Throws for each name that occurs twice.
        let fields = try FormFields(Substring(url[mark...].dropFirst()))
        if let error = fields["error"] {
            outcome = .error(Self.isName(error.utf8) ? error : "unknown_error")
            return
        }
        guard let code = fields["code"], let state = fields["state"] else { throw Self.malformed }
        outcome = .code(code, state: state)
    }

    /// Whether all bytes may stand in a URI (RFC 3986, 2), where `%` is followed by two hexadecimal digits.
    private static func isURI(_ bytes: String.UTF8View) -> Bool {
        var digits = 0
        for byte in bytes {
            if digits > 0 {
                guard byte.hexDigitValue != nil else { return false }
                digits -= 1
            } else if byte == UInt8(ascii: "%") {
                digits = 2
            } else {
                guard byte.isASCIILetterOrDigit || "-._~:/?#[]@!$&'()*+,;=".utf8.contains(byte) else { return false }
            }
        }
        return digits == 0
    }

    /// Whether the address begins with a scheme (RFC 3986, 3.1).
    private static func hasScheme(_ address: String.UTF8View) -> Bool {
        let scheme = address.prefix { $0 != UInt8(ascii: ":") }
        guard let first = scheme.first, scheme.endIndex != address.endIndex else { return false }
        let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first | 0x20)
        return isLetter && scheme.allSatisfy { $0.isASCIILetterOrDigit || "+-.".utf8.contains($0) }
    }

    /// Whether the text can be a registered error, which alone is repeated in the answer.
    private static func isName(_ text: String.UTF8View) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        return (1...64).contains(text.count) && text.allSatisfy { letters.contains($0) || $0 == UInt8(ascii: "_") }
    }
}
