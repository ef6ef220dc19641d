import ProviderKit
import Testing

struct PersonNameTests {
    @Test(
        arguments: [
            (["Ada", "Lovelace"], "Ada Lovelace"), ([" Ada ", nil], "Ada"), ([nil, "Lovelace"], "Lovelace"),
            (["A  b", "\t c"], "A b c"), (["A\u{0}B\u{1B}C", nil], "A B C"), (["", "   "], nil), ([nil, nil], nil),
        ] as [([String?], String?)])
    func `a name joins the stated parts`(parts: [String?], expected: String?) {
        #expect(PersonName.joined(parts[0], parts[1]) == expected)
    }

    @Test func `a long name is cut between characters`() {
        let family = "👨‍👩‍👧‍👦"
        let name = PersonName.joined(String(repeating: family, count: 40))
        #expect(name == String(repeating: family, count: 256 / family.utf8.count))
        // A single letter with many accents is not a name.
        #expect(PersonName.joined("a" + String(repeating: "\u{301}", count: 300)) == nil)
    }
}
