internal import ProviderKit

/// The code that a device shows, and that a person types at another one (RFC 8628, 6.1).
///
/// It has eight consonants, so that it spells no word. Of 20^8 codes, few are in use at a time.
package struct UserCode: Sendable, Codable, Equatable {
    private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
    private static let length = 8

    /// The code as devices show it: `WDJB-MJHT`.
    package let text: String

    private init(_ letters: [UInt8]) {
        let half = Self.length / 2
        text = [letters.prefix(half), letters.dropFirst(half)].map { String(decoding: $0, as: UTF8.self) }
            .joined(separator: "-")
    }

    /// Creates a random code.
    init() {
        self.init((0..<Self.length).map { _ in Self.letters[Int.random(in: Self.letters.indices)] })
    }

    /// Reads a code as a person types it, with letters of any case, and with hyphens and spaces anywhere.
    package init?(typed text: String) {
        guard text.utf8.count <= 64 else { return nil }
        let letters = text.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") }
            .map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 - 0x20 : $0 }
        guard letters.count == Self.length, letters.allSatisfy(Self.letters.contains) else { return nil }
        self.init(letters)
    }
}
