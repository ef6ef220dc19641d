internal import CIDN2
internal import Foundation

/// A normalised e-mail address: the local part in NFC with ASCII letters in lower case, the domain as IDNA 2008 A-labels
/// in lower case.
///
/// Display names, comments, quoted local parts, domain literals and domains without a dot are refused.
public struct EmailAddress: Sendable, Hashable, CustomStringConvertible {
    /// `local@domain`, at most 254 bytes (RFC 5321, 4.5.3.1).
    public let value: String

    /// The domain as A-labels.
    public var domain: Substring { value[(value.lastIndex(of: "@") ?? value.startIndex)...].dropFirst() }

    /// Parses and normalises an address.
    /// - Returns: `nil` if the text is not exactly one plain address.
    public init?(_ typed: String) {
        guard typed.utf8.count <= 1024 else { return nil }
        let parts = typed.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let local = Self.normalisedLocalPart(parts[0]), let domain = Self.aLabels(parts[1])
        else { return nil }
        value = "\(local)@\(domain)"
        guard value.utf8.count <= 254 else { return nil }
    }

    /// The address itself: treat it as personal data and keep it out of logs.
    public var description: String { value }

    private static func normalisedLocalPart(_ typed: Substring) -> String? {
        let composed = String(typed).precomposedStringWithCanonicalMapping
        let scalars = composed.unicodeScalars.map { $0.isASCII ? $0.lowercased : $0 }
        let local = String(String.UnicodeScalarView(scalars))
        guard (1...64).contains(local.utf8.count), scalars.allSatisfy(isPlain) else { return nil }
        return local.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty } ? local : nil
    }

    /// Accepts `atext` of RFC 5322, the dot, and visible characters beyond ASCII (RFC 6531).
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                || ".!#$%&'*+-/=?^_`{|}~".unicodeScalars.contains(scalar)
        }
        return !scalar.isInvisible
    }

    private static func aLabels(_ typed: Substring) -> String? {
        guard typed.unicodeScalars.allSatisfy({ !$0.isInvisible }), let domain = lookUp(String(typed)) else {
            return nil
        }
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, labels.allSatisfy(isHostLabel), labels.last?.contains(where: \.isLetter) == true else {
            return nil
        }
        return domain
    }

    /// IDNA 2008 look-up form, non-transitional (RFC 5891, 5; UTS 46).
    ///
    /// It does not apply libidn2's STD3 rules, which drop invalid characters instead of refusing them: `exa<mple.com`
    /// would become `example.com`. `isHostLabel` checks the labels instead.
    static func lookUp(_ typed: String) -> String? {
        var output: UnsafeMutablePointer<UInt8>?
        let flags = Int32(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
        let code = typed.withCString(encodedAs: UTF8.self) { idn2_lookup_u8($0, &output, flags) }
        guard code == IDN2_OK.rawValue, let output else { return nil }
        defer { idn2_free(output) }
        return String(cString: output).lowercased()
    }

    /// Whether a label is valid in a host name (RFC 1123, 2.1).
    private static func isHostLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") }
    }
}

extension Unicode.Scalar {
    fileprivate var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .spaceSeparator:
            true
        default: properties.isDefaultIgnorableCodePoint
        }
    }

    fileprivate var lowercased: Unicode.Scalar {
        ("A"..."Z").contains(self) ? Unicode.Scalar(UInt8(truncatingIfNeeded: value) | 0x20) : self
    }
}
