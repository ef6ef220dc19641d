/// Comparisons for text from outside.
///
/// `==`, `switch` and `hash(into:)` of `String` normalise, which takes a third of a second for 60 KB of combining marks.
/// Text from outside is therefore compared as bytes.
///
/// The comparisons are `@inlinable`, so that other modules specialize them: unspecialized, each byte costs several calls.
extension StringProtocol {
    /// Whether both texts have the same bytes in UTF-8.
    @inlinable
    public func hasSameBytes(as other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }

    /// Whether both texts have the same bytes, ignoring the case of ASCII letters.
    @inlinable
    public func hasSameBytes(ignoringCaseAs other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }

    /// Whether the text is a cheap dictionary key: at most 128 bytes, and at most 32 combining marks in a row.
    package var isFitName: Bool {
        guard utf8.count > 32 else { return true }
        guard utf8.count <= JSONText.longestName else { return false }
        var marks = 0
        return unicodeScalars.allSatisfy { scalar in
            marks = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
            return marks <= 32
        }
    }
}

extension Sequence where Element: StringProtocol {
    /// Whether one of the texts has the same bytes in UTF-8.
    @inlinable
    public func containsBytes(of text: some StringProtocol) -> Bool { contains { $0.hasSameBytes(as: text) } }
}

extension RawRepresentable where RawValue == String, Self: CaseIterable {
    /// The case whose raw value has the same bytes in UTF-8.
    public init?(bytesOf text: some StringProtocol) {
        guard let found = Self.allCases.first(where: { $0.rawValue.hasSameBytes(as: text) }) else { return nil }
        self = found
    }
}

extension UInt8 {
    package var isASCIIDigit: Bool { (0x30...0x39).contains(self) }

    package var isASCIILetterOrDigit: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }

    @usableFromInline
    var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
