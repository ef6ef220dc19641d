/// A phone number in international form (ITU-T E.164): `+`, country code and number, digits alone.
public struct PhoneNumber: Sendable, Hashable, CustomStringConvertible {
    /// As in `+33612345678`.
    public let value: String

    /// - Returns: `nil` for a national form, anything but digits after the `+`, and impossible lengths.
    public init?(_ text: String) {
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: "+"), (7...15).contains(digits.count),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            digits.first != UInt8(ascii: "0")
        else { return nil }
        value = text
    }

    /// The number itself: treat it as personal data and keep it out of logs.
    public var description: String { value }
}
