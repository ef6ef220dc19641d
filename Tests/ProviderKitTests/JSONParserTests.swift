import Foundation
import GatehouseTesting
import ProviderKit
import Testing

/// The parser against Foundation's.
struct JSONParserTests {
    /// Decodes with Foundation, which reads a text of this kind as the parser should.
    private func decoded(_ text: [UInt8]) -> JSONValue? {
        try? JSONDecoder().decode(JSONValue.self, from: Data(text))
    }

    @Test func `any well-formed text has the value that Foundation's decoder reads`() throws {
        var texts = JSONTexts(seed: 1)
        for _ in 0..<5000 {
            let text = Array(texts.next().utf8)
            let expected = try #require(decoded(text), "\(String(decoding: text, as: UTF8.self))")
            let value = JSONValue(json: text)
            guard let value, value.hasSameBytes(as: expected) else {
                Issue.record("\(String(decoding: text, as: UTF8.self)) is \(String(describing: value))")
                continue
            }
            let written = try value.jsonText()
            #expect(try JSONValue(jsonText: written).hasSameBytes(as: expected), "\(written)")
            #expect(decoded(Array(written.utf8))?.hasSameBytes(as: expected) == true, "\(written)")
        }
    }

    @Test func `whatever is accepted of broken texts, Foundation's decoder accepts too`() {
        var (texts, random, accepted) = (JSONTexts(seed: 2), SeededGenerator(seed: 3), 0)
        for _ in 0..<5000 {
            var text = Array(texts.next().utf8)
            let position = Int.random(in: 0..<text.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: text.remove(at: position)
            case 1: text[position] = .random(in: 0...255, using: &random)
            default: text.insert("{}[],:\"\\0e-.u ".utf8.randomElement(using: &random) ?? 0, at: position)
            }
            guard let value = JSONValue(json: text) else { continue }
            accepted += 1
            #expect(decoded(text)?.hasSameBytes(as: value) == true, "\(String(decoding: text, as: UTF8.self))")
        }
        #expect((500..<4500).contains(accepted))
    }

    private static let zeros = String(repeating: "0", count: 120)

    private static let integers: [(String, Int64)] = [
        ("0", 0), ("-0", 0), ("-0.0", 0), ("1.0", 1), ("1e3", 1000), ("1E+3", 1000), ("10e-1", 1), ("0e99999999999", 0),
        ("1e-400", 0), ("1.0000000000000001", 1), ("1e18", 1_000_000_000_000_000_000),
        ("9007199254740993", 9_007_199_254_740_993), ("9007199254740993.00", 9_007_199_254_740_993),
        ("0.9007199254740993e16", 9_007_199_254_740_993), ("90071992547409930e-1", 9_007_199_254_740_993),
        ("9223372036854775807", .max), ("9223372036854775807.0", .max), ("-9223372036854775808", .min),
        ("-9223372036854775808.0", .min), ("1e0000000000000000000000000018", 1_000_000_000_000_000_000),
        ("1\(zeros)e-110", 10_000_000_000),
        ("1\(zeros)e-103", 100_000_000_000_000_000),
    ]

    @Test(arguments: integers)
    func `a whole number that fits 64 bits is an integer`(text: String, value: Int64) {
        #expect(JSONValue(json: Array(text.utf8)) == .integer(value))
        #expect(JSONValue(json: Array("[\(text)]".utf8)) == [.integer(value)])
    }

    private static let doubles: [(String, Double)] = [
        ("0.1", 0.1), ("-1.5e-7", -1.5e-7), ("5e-324", .leastNonzeroMagnitude),
        ("1.7976931348623157e308", .greatestFiniteMagnitude),
        ("9223372036854775808", 0x1p63), ("-9223372036854775809", -0x1p63), ("1e19", 1e19),
        ("9007199254740993.5", 9_007_199_254_740_994), ("9223372036854775807.5", 0x1p63),
    ]

    @Test(arguments: doubles)
    func `any other number is a double`(text: String, value: Double) {
        #expect(JSONValue(json: Array(text.utf8)) == .number(value))
    }

    @Test(arguments: ["1e309", "-1e400", "1e99999999999999999999"])
    func `a number beyond the range of a double is refused, but left to the decoder of a request`(text: String) throws {
        let text = "{\"a\":[\(text)]}"
        #expect(JSONValue(json: Array(text.utf8)) == nil)
        #expect(throws: (any Error).self) { try JSONValue(jsonText: text) }
        try JSONText.check(Array(text.utf8))
    }

    /// The second text ends a process that decodes it with Foundation.
    @Test(arguments: [
        "0." + String(repeating: "3", count: 127), "1" + String(repeating: "0", count: 170) + "e-153",
    ])
    func `a number of more than 128 bytes is refused from outside`(number: String) throws {
        let text = "{\"a\":\(number)}"
        #expect(JSONValue(json: Array(text.utf8)) == nil)
        #expect { try JSONText.check(Array(text.utf8)) } throws: { error in
            if case .longNumber? = error as? JSONText.Fault { true } else { false }
        }
        _ = try JSONValue(jsonText: text)
    }

    @Test(arguments: [
        "", " ", "{", "[1", "\"", "\"a", "\"\\", "\"\\u", "\"\\u12", "-", "1.", "1e", "1e+", ".5", "+1", "01", "-01",
        "0x1",
        "NaN", "Infinity", "nul", "nulll", "True", "[1,]", "{\"a\":1,}", "[,1]", "[1 2]", "{\"a\" 1}", "{a:1}", "{1:1}",
        "{\"a\":}", "[}", "{]", "1 1", "{}//", "'a'", "\u{FEFF}{}", "\u{A0}1", "\"\n\"", "\"\t\"", "\"\u{0}\"",
        "\"\\x\"",
        "\"\\U0041\"", "\"\\u12G4\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\\ud800x\"",
        "\"\\ud800\\ud800\"", "\"\\u0000\"", "{\"\\ud800\":1}", "{\"\\u0000\":1}", "1\0",
    ])
    func `anything else is refused`(text: String) {
        #expect(JSONValue(json: Array(text.utf8)) == nil)
        #expect(throws: (any Error).self) { try JSONValue(jsonText: text) }
    }

    private static let invalid: [[UInt8]] = [
        [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
        [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22],
        [0x22, 0xC3, 0x22], [0x7B, 0x22, 0xC3, 0x22, 0x3A, 0x31, 0x7D],
        [0x22, 0xC3, 0x5C, 0x75, 0x30, 0x30, 0x34, 0x31, 0x22],
        [0x31, 0x00], [0xFF, 0xFE, 0x31, 0x00], [0xC3, 0xA9],
    ]

    @Test(arguments: invalid)
    func `invalid UTF-8 is refused`(bytes: [UInt8]) { #expect(JSONValue(json: bytes) == nil) }

    @Test func `strings are decoded without normalisation`() {
        let strings = [
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\u00E9""#, "éé"),
            (#""a\ud83d\ude00b""#, "a😀b"),
            (#""\u0001\u007f""#, "\u{1}\u{7F}"), ("\"\u{2028}\u{FFFF}\u{10FFFF}\"", "\u{2028}\u{FFFF}\u{10FFFF}"),
            (#""\uFFFF\uD7FF\uE000\ufeff""#, "\u{FFFF}\u{D7FF}\u{E000}\u{FEFF}"),
            (#""e\u0301\u00e9""#, "e\u{301}\u{E9}"),
            ("\"\"", ""), (#""\\u0000""#, "\\u0000"),
        ]
        for (text, value) in strings { #expect(JSONValue(json: Array(text.utf8)) == .string(value), "\(text)") }
    }

    @Test func `of repeated names the first is kept`() throws {
        let repeated = "{\"\u{E9}\":1,\"e\u{301}\":2,\"a\":{\"b\":3,\"\\u0062\":4}}"
        let expected: JSONValue = ["\u{E9}": 1, "a": ["b": 3]]
        let value = try #require(JSONValue(json: Array(repeated.utf8)))
        #expect(value.hasSameBytes(as: expected))
        #expect(JSONValue(json: Array(repeated.utf8), refusingRepeatedNames: true) == nil)
    }

    @Test func `the limits concern texts from outside only`() throws {
        let name = String(repeating: "a", count: 129)
        for text in [String(repeating: "[", count: 17) + String(repeating: "]", count: 17), "{\"\(name)\":1}"] {
            #expect(JSONValue(json: Array(text.utf8)) == nil)
            #expect(try JSONValue(jsonText: text).jsonText() == text)
        }
        let deep = String(repeating: "[", count: 60_000)
        #expect(throws: (any Error).self) { try JSONValue(jsonText: deep) }
        #expect(JSONValue(json: Array(deep.utf8)) == nil)
        #expect(throws: EncodingError.self) { try JSONValue.array([.number(.infinity)]).jsonText() }
    }
}

extension JSONValue {
    /// Whether the values are equal, and also the names in bytes and the signs of zeros.
    fileprivate func hasSameBytes(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.object(let one), .object(let other)):
            one.count == other.count
                && one.allSatisfy { name, value in
                    guard let index = other.index(forKey: name) else { return false }
                    return other[index].key.hasSameBytes(as: name) && value.hasSameBytes(as: other[index].value)
                }
        case (.array(let one), .array(let other)):
            one.count == other.count && zip(one, other).allSatisfy { $0.hasSameBytes(as: $1) }
        case (.number(let one), .number(let other)): one.bitPattern == other.bitPattern
        default: self == other
        }
    }
}

/// Well-formed texts from a seed, with blanks, escapes, odd numbers, and names that repeat.
private struct JSONTexts {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func next() -> String { value(depth: 0) }

    private mutating func value(depth: Int) -> String {
        let value =
            switch Int.random(in: 0..<(depth < 8 ? 9 : 6), using: &random) {
            case 0, 1: number()
            case 2, 3: string()
            case 4: one(of: ["true", "false", "null"])
            case 5: one(of: ["[]", "{ }", "[\n]"])
            case 6: "[" + members { $0.value(depth: depth + 1) } + "]"
            default: "{" + members { $0.blank() + $0.string() + $0.blank() + ":" + $0.value(depth: depth + 1) } + "}"
            }
        return blank() + value + blank()
    }

    private mutating func members(_ member: (inout JSONTexts) -> String) -> String {
        var members: [String] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) { members.append(member(&self)) }
        return members.joined(separator: ",")
    }

    private mutating func blank() -> String { one(of: ["", "", "", " ", "\n", "\r\t "]) }

    private mutating func string() -> String {
        let parts = [
            "a", "b", "é", "e\u{301}", "\u{301}", "\u{2028}", "\u{7F}", "\u{FFFF}", "😀", "한", "\u{1112}\u{1161}", "/",
            #"\n"#, #"\t"#, #"\b"#, #"\f"#, #"\r"#, #"\/"#, #"\""#, #"\\"#, #"\u0061"#, #"\u00e9"#, #"\u0301"#,
            #"\u001f"#,
            #"\ud83d\uDE00"#, #"\uFEFF"#,
        ]
        var string = ""
        for _ in 0..<Int.random(in: 0...3, using: &random) { string += one(of: parts) }
        return "\"\(string)\""
    }

    /// A number that is finite; one beyond 2^53 is whole or written without a fraction, since the decoder drops its
    /// fraction.
    private mutating func number() -> String {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: one(of: ["0", "-0", "-0.0", "1.0", "1e3", "5e-324", "1e-400", "9223372036854775808", "0.1E+1"])
        case 1: "\(Int64.random(in: .min ... .max, using: &random))"
        case 2: "\(Double.random(in: -1e12...1e12, using: &random))"
        case 3: "\(Int.random(in: 1...999_999, using: &random))e\(Int.random(in: -300...12, using: &random))"
        case 4: "\(Int.random(in: 1...999, using: &random))E+\(Int.random(in: 20...300, using: &random))"
        default: "\(Int.random(in: -99...99, using: &random)).\(Int.random(in: 0...99_999, using: &random))"
        }
    }

    private mutating func one(of texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }
}
