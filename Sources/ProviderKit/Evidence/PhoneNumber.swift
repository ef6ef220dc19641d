internal import CPhoneNumber

/// A phone number in international form (ITU-T E.164): `+`, the country code and the number, only digits.
///
/// Different spellings of the same number are equal, because libphonenumber normalises them. Which numbers are valid
/// depends on the metadata of the installed libphonenumber.
public struct PhoneNumber: Sendable, Hashable, CustomStringConvertible {
    /// The normalised number, as in `+33612345678`.
    public let value: String
    /// The ISO 3166 code of the country, as in `FR`; `nil` for networks that belong to no country.
    public let region: String?
    /// Whether the number is mobile, or in a range that mobile and fixed lines share.
    ///
    /// Other numbers get no text messages, because owners of premium-rate numbers earn money with each.
    public let takesTexts: Bool
    private let countryCodeLength: Int

    /// Parses and normalises a number.
    /// - Returns: `nil` for a national form, for anything but ASCII digits after the `+`, and for numbers that
    ///   libphonenumber knows to be unassignable.
    public init?(_ text: String) {
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: "+"), (7...17).contains(digits.count),
            digits.allSatisfy(\.isASCIIDigit), digits.first != UInt8(ascii: "0")
        else { return nil }
        var number = phone_number()
        guard phone_number_read(text, text.utf8.count, &number) == 1 else { return nil }
        value = Self.text(&number.e164)
        let country = Self.text(&number.region)
        region = country.isEmpty ? nil : country
        takesTexts = number.takes_texts == 1
        countryCodeLength = String(number.country_code).utf8.count
        // The normalised form may be shorter, for example without a trunk prefix.
        guard (8...16).contains(value.utf8.count) else { return nil }
    }

    /// Whether there are numbers of a country, which is an ISO 3166 code in upper case, as in `FR`.
    public static func hasNumbers(in region: String) -> Bool { phone_number_region_is_known(region) == 1 }

    /// A regular expression (ECMA-262) that matches the mobile numbers known to libphonenumber, normalised.
    package static let pattern: String = {
        let capacity = 1 << 17
        let pattern = String(unsafeUninitializedCapacity: capacity) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { phone_number_mobile_pattern($0.baseAddress, capacity) }
        }
        return pattern.isEmpty ? #"^\+[1-9][0-9]{6,14}$"# : pattern
    }()

    /// The country code and the first three digits after it, as in `+33612`: about the range of one carrier.
    package var range: String { String(value.prefix(1 + countryCodeLength + 3)) }

    /// The `+` and the country code, as in `+33`.
    package var countryCode: String { String(value.prefix(1 + countryCodeLength)) }

    /// The number itself: treat it as personal data and keep it out of logs.
    public var description: String { value }

    /// Reads a NUL-terminated C array, which Swift imports as a tuple.
    private static func text<Characters>(_ characters: inout Characters) -> String {
        withUnsafeBytes(of: &characters) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
