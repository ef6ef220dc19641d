internal import CPhoneNumber

/// A phone number in international form (ITU-T E.164): `+`, country code and number, digits alone.
///
/// Two numbers are equal when they reach the same phone, however they were written: what is stored and compared is the
/// library's own form. Which numbers are valid changes as countries open ranges, with the library's metadata.
public struct PhoneNumber: Sendable, Hashable, CustomStringConvertible {
    /// As in `+33612345678`.
    public let value: String
    /// The ISO 3166 code of the country, as in `FR`; none for networks that belong to no country.
    public let region: String?
    /// Whether the number is mobile, or of a range that mobile and fixed lines share.
    ///
    /// Other numbers get no text messages: a call or text to a premium-rate number costs money that its owner earns.
    public let takesTexts: Bool
    /// Digits of the country code.
    private let countryCodeLength: Int

    /// - Returns: `nil` for a national form, anything but ASCII digits after the `+`, and what libphonenumber knows to
    ///   be no number that anybody could have, such as those of ranges kept for fiction.
    public init?(_ text: String) {
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: "+"), (7...17).contains(digits.count),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            digits.first != UInt8(ascii: "0")
        else { return nil }
        var number = phone_number()
        guard phone_number_read(text, text.utf8.count, &number) == 1 else { return nil }
        value = Self.text(&number.e164)
        let country = Self.text(&number.region)
        region = country.isEmpty ? nil : country
        takesTexts = number.takes_texts == 1
        countryCodeLength = String(number.country_code).utf8.count
        // The stored form may be shorter than what was written, without a trunk prefix for one.
        guard (8...16).contains(value.utf8.count) else { return nil }
    }

    /// A regular expression (ECMA-262) of the mobile numbers that libphonenumber knows, in the form that is stored.
    package static let pattern: String = {
        let capacity = 1 << 17
        let pattern = String(unsafeUninitializedCapacity: capacity) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { phone_number_mobile_pattern($0.baseAddress, capacity) }
        }
        return pattern.isEmpty ? #"^\+[1-9][0-9]{6,14}$"# : pattern
    }()

    /// Country code and the first three digits after it, as in `+33612`: about a carrier's range.
    package var range: String {
        String(value.prefix(1 + countryCodeLength + 3))
    }

    /// The number itself: treat it as personal data and keep it out of logs.
    public var description: String { value }

    /// The text in a C array, which Swift sees as a tuple, up to its NUL.
    private static func text<Characters>(_ characters: inout Characters) -> String {
        withUnsafeBytes(of: &characters) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
