import GatehouseTesting
import Testing

@testable import ProviderKit

@Suite struct PhoneNumberTests {
    @Test(arguments: [
        ("+33612345678", "+33612345678", "FR"),
        ("+4915112345678", "+4915112345678", "DE"),
        ("+491711234567", "+491711234567", "DE"),
        ("+34612345678", "+34612345678", "ES"),
        ("+14155552671", "+14155552671", "US"),
        // If countries share a code, the rest of the number determines the country.
        ("+15142345678", "+15142345678", "CA"),
        ("+441481256789", "+441481256789", "GG"),
        ("+77011234567", "+77011234567", "KZ"),
        // Italy's leading zero belongs to the number; France's and Britain's trunk prefix does not.
        ("+390612345678", "+390612345678", "IT"),
        ("+330612345678", "+33612345678", "FR"),
        ("+4407400123456", "+447400123456", "GB"),
        // Former or domestic mobile prefixes of Mexico and Argentina are removed.
        ("+5215512345678", "+525512345678", "MX"),
        ("+5491123456789", "+5491123456789", "AR"),
        // North American numbers that are reserved for fiction have the form of other numbers.
        ("+12025550123", "+12025550123", "US"),
        // International toll-free numbers belong to no country.
        ("+80012345678", "+80012345678", nil),
    ])
    func oneForm(typed: String, stored: String, region: String?) {
        let number = PhoneNumber(typed)
        #expect(number?.value == stored)
        #expect(number?.region == region)
        #expect(number.flatMap { PhoneNumber($0.value) } == number, "the form is stable")
    }

    @Test(arguments: [
        // National forms, and numbers with dialling prefixes.
        "0612345678", "33612345678", "0033612345678", "00 33 6 12 34 56 78", "+0612345678",
        // Numbers with separators.
        "+33 6 12 34 56 78", "+33-6-12-34-56-78", "+33(0)612345678", "+33.612345678", "tel:+33612345678",
        "+33612345678;ext=1", "+33612345678,123", "+33612345678#", "+33612345678x1", " +33612345678", "+33612345678 ",
        "+33612345678\n", "+33612345678\u{0}", "\u{0}+33612345678", "+33612345678\r\n", "++33612345678",
        // Numbers with letters.
        "+1800FLOWERS", "+3361234567O", "+3361234567l", "+33612345678e1",
        // Look-alikes: Arabic-Indic, Persian, Devanagari, full-width, mathematical, superscript and the full-width
        // plus.
        "+\u{663}\u{663}\u{666}\u{661}\u{662}\u{663}\u{664}\u{665}\u{666}\u{667}\u{668}",
        "+3361234567\u{668}", "+3361234567\u{6F8}", "+3361234567\u{96E}", "+3361234567\u{FF18}",
        "+3361234567\u{1D7F4}", "+3361234567\u{2078}", "\u{FF0B}33612345678", "\u{207A}33612345678",
        // Invisible characters.
        "+336123\u{200B}45678", "+336123\u{AD}45678", "\u{202A}+33612345678\u{202C}", "+33612345678\u{FE0F}",
        "+3361234567\u{301}8", "\u{FEFF}+33612345678",
        // Texts that are not numbers, and numbers of a wrong length.
        "", "+", "+3", "+33", "+336", "+3361234567", "+336123456789", "+1234567", "+123456789012345",
        "+00000000000", "+99999999999", "+99912345678", "+15555550123", "+15551234567", "+447700900123",
        "+33639981234", "+\(String(repeating: "9", count: 10_000))",
    ])
    func noNumber(typed: String) {
        #expect(PhoneNumber(typed) == nil)
    }

    /// Any text with a foreign character somewhere in a valid number is refused.
    @Test func nothingButASCIIDigits() {
        var generator = SeededGenerator(seed: 0)
        let number = Array("+33612345678".unicodeScalars)
        for _ in 0..<5000 {
            guard let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &generator)),
                !("0"..."9").contains(scalar), scalar != "+"
            else { continue }
            var replaced = String.UnicodeScalarView(number)
            let index = replaced.indices.randomElement(using: &generator) ?? replaced.startIndex
            var inserted = replaced
            inserted.insert(scalar, at: index)
            replaced.replaceSubrange(index...index, with: [scalar])
            #expect(PhoneNumber(String(inserted)) == nil)
            #expect(PhoneNumber(String(replaced)) == nil)
        }
    }

    @Test func `countries are known by their ISO code`() {
        for country in ["FR", "GB", "US", "NO"] { #expect(PhoneNumber.hasNumbers(in: country), "\(country)") }
        for other in ["UK", "XX", "ZZ", "001", "fr", "", "F\0R", "FRANCE"] {
            #expect(!PhoneNumber.hasNumbers(in: other), "\(other)")
        }
    }

    @Test func `a number that is too short without its trunk prefix is refused`() {
        #expect(PhoneNumber("+4901645") == nil)
    }

    /// A normalised number of any country parses to itself.
    @Test func theFormIsStableForAnyNumber() {
        var generator = SeededGenerator(seed: 0)
        var valid = 0
        for _ in 0..<30_000 {
            let length = Int.random(in: 7...15, using: &generator)
            let digits = (0..<length).map { _ in "\(Int.random(in: 0...9, using: &generator))" }.joined()
            guard let number = PhoneNumber("+\(digits)") else { continue }
            valid += 1
            #expect(PhoneNumber(number.value) == number, "+\(digits) is \(number)")
            #expect((8...16).contains(number.value.utf8.count))
            #expect(number.region?.utf8.count ?? 2 == 2)
        }
        #expect(valid > 500)
    }

    @Test(arguments: [
        ("+33612345678", true), ("+14155552671", true), ("+390612345678", false), ("+33142685300", false),
        // Numbers for premium rate, shared cost, toll-free, no country and voice over IP.
        ("+33891234567", false), ("+449012345678", false), ("+441481256789", false), ("+80012345678", false),
        ("+18005551234", false), ("+33912345678", false),
    ])
    func onlyMobileNumbersTakeTexts(number: String, takesTexts: Bool) throws {
        #expect(try #require(PhoneNumber(number)).takesTexts == takesTexts)
    }

    @Test(arguments: [
        ("+33612345678", "+33612"), ("+14155552671", "+1415"), ("+390612345678", "+39061"),
        ("+441481256789", "+44148"),
    ])
    func theRangeIsCountryCodeAndThreeDigits(number: String, range: String) {
        #expect(PhoneNumber(number)?.range == range)
    }
}

/// Tests the regular expression in the OpenAPI document.
@Suite struct PhonePatternTests {
    @Test(arguments: [
        "+33612345678", "+4915112345678", "+491711234567", "+34612345678", "+14155552671", "+15142345678",
        "+447400123456", "+5491123456789", "+77011234567",
    ])
    func matchesMobileNumbers(number: String) throws {
        let pattern = try Regex(PhoneNumber.pattern)
        #expect(PhoneNumber(number)?.value == number)
        #expect(number.contains(pattern))
    }

    @Test(arguments: [
        "0612345678", "+33 6 12 34 56 78", "+33123456789", "+390612345678", "+80012345678", "+336123456789",
    ])
    func refusesOthers(number: String) throws {
        let pattern = try Regex(PhoneNumber.pattern)
        #expect(!number.contains(pattern))
    }
}
