import ProviderKit
import Testing

struct JSONTextTests {
    private func fault(in text: String, limit: Int? = nil, refusingRepeatedNames: Bool = false) -> JSONText.Fault? {
        do {
            try JSONText.check(
                Array(text.utf8), limiting: limit.map { JSONText.MemberLimit(name: "metadata", bytes: $0) })
            _ = try JSONText.value(Array(text.utf8), refusingRepeatedNames: refusingRepeatedNames)
            return nil
        } catch {
            return error
        }
    }

    private static let marks = String(repeating: "\u{301}", count: 33)
    private static let escapes = String(repeating: "\\u0301", count: 33)

    @Test(arguments: [
        String(repeating: "a", count: 129), String(repeating: "é", count: 65), marks, "a" + marks, escapes,
        "a" + escapes + "b", String(repeating: "\\u0061", count: 129),
        String(repeating: "\u{301}", count: 20) + String(repeating: "\\u0327", count: 13),
    ])
    func `a name that is too long, or has too many marks, is refused at any depth`(name: String) {
        for text in ["{\"\(name)\":1}", "{\"a\":{\"\(name)\":1}}", "[{},{\"b\":[{\"c\":1,\"\(name)\":1}]}]"] {
            guard case .unfitName = fault(in: text) else {
                Issue.record("\(text.prefix(40))")
                continue
            }
        }
        #expect(fault(in: "{\"a\":\"\(name)\"}") == nil, "it is a value there")
    }

    @Test(arguments: [
        "", String(repeating: "a", count: 128), String(repeating: "é", count: 64),
        String(repeating: "\u{301}", count: 32), String(repeating: "\\u0301", count: 32),
        String(repeating: "\\u0061", count: 128),
        String(repeating: "\u{301}", count: 32) + "a" + String(repeating: "\u{301}", count: 31),
    ])
    func `any other name is accepted`(name: String) {
        #expect(fault(in: "{\"\(name)\":1}") == nil && fault(in: "{\"a\":{\"\(name)\":1}}") == nil)
    }

    @Test func `a repeated name is found if requested`() {
        let repeated = [
            #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"[{"b":{"a":1,"b":2,"a":{}}}]"#,
            "{\"\u{E9}\":1,\"e\u{301}\":2}",
        ]
        for text in repeated {
            #expect(fault(in: text) == nil)
            guard case .repeatedName = fault(in: text, refusingRepeatedNames: true) else {
                Issue.record("\(text)")
                continue
            }
        }
        for text in [#"{"a":{"a":1},"b":[{"a":1},{"a":1}]}"#, #"{"a":"a","b":"a"}"#] {
            #expect(fault(in: text, refusingRepeatedNames: true) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        ("{\"a\":1}", 7), ("{ \"a\" :\n\t1 }", 7), (#"{"a":"\u00e9"}"#, 10), (#"{"a":"\ud83d\ude00"}"#, 12),
        (#"{"a":"\u20ac\u0041"}"#, 12), (#"{"a":"\n\u0001"}"#, 16), ("[[], [], 1.50]", 12), ("\"é b\"", 6),
    ])
    func `a limited member counts with its shortest encoding`(value: String, size: Int) {
        #expect(fault(in: "{\"metadata\": \(value) , \"b\": \"longer than all\"}", limit: size) == nil)
        guard case .oversized = fault(in: "{\"metadata\":\(value)}", limit: size - 1) else {
            Issue.record("\(value)")
            return
        }
        #expect(fault(in: "{\"b\":{\"metadata\":\(value)}}", limit: 1) == nil, "only the outermost object's")
    }
}

struct ByteComparisonTests {
    @Test func `texts that look the same need not be the same bytes`() {
        #expect("\u{E9}" == "e\u{301}" && !"\u{E9}".hasSameBytes(as: "e\u{301}"))
        #expect("a".hasSameBytes(as: "a") && !"a".hasSameBytes(as: "A") && "aB".hasSameBytes(ignoringCaseAs: "Ab"))
        #expect(!"k".hasSameBytes(ignoringCaseAs: "\u{212A}"), "only the case of ASCII")
        #expect(!"[".hasSameBytes(ignoringCaseAs: "{"))
        #expect(["x", "\u{E9}"].containsBytes(of: "\u{E9}") && !["\u{E9}"].containsBytes(of: "e\u{301}"))
        #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
        #expect(JSONValue.array(["a", 1, .null, ["b": .number(1.5)]]) == ["a", 1, .null, ["b": .number(1.5)]])
    }
}
