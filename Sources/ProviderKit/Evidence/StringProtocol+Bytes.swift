/// Comparing text that somebody outside sent.
///
/// `==`, `switch` and hashes of `String` compare what texts look like, for which they sort runs of combining marks: 60 KB
/// of them cost a third of a second. What an outsider sent is therefore compared as bytes.
extension StringProtocol {
    /// Whether both texts are the same bytes of UTF-8.
    public func hasSameBytes(as other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }

    /// The same, where letters of ASCII are equal in either case.
    public func hasSameBytes(ignoringCaseAs other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }

    /// Whether a dictionary may have the text as a key: at most 128 bytes, and at most 32 combining marks in a row.
    package var isFitName: Bool {
        guard utf8.count <= JSONText.longestName else { return false }
        var marks = 0
        return unicodeScalars.allSatisfy { scalar in
            marks = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
            return marks <= 32
        }
    }
}

extension Sequence where Element: StringProtocol {
    /// Whether one of these texts is the same bytes of UTF-8.
    public func containsBytes(of text: some StringProtocol) -> Bool {
        contains { $0.hasSameBytes(as: text) }
    }
}

extension RawRepresentable where RawValue == String, Self: CaseIterable {
    /// The case whose raw value is the same bytes of UTF-8.
    public init?(bytesOf text: some StringProtocol) {
        guard let found = Self.allCases.first(where: { $0.rawValue.hasSameBytes(as: text) }) else { return nil }
        self = found
    }
}

/// One of several words that a client may send.
package protocol SentChoice: RawRepresentable, CaseIterable, Codable where RawValue == String {}

extension SentChoice {
    package init(from decoder: any Decoder) throws {
        guard let choice = try Self(bytesOf: decoder.singleValueContainer().decode(String.self)) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "is none of the choices"))
        }
        self = choice
    }
}

extension UInt8 {
    fileprivate var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
