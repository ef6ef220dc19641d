import Accounts
import Foundation
import GatehouseServer
import ProviderKit
import Testing

/// Documents that are not a configuration at all are refused with an error.
struct ConfigurationDocumentTests {
    @Test(arguments: [
        ("", "gatehouse.yaml: the file is empty"),
        ("# nothing\n", "gatehouse.yaml: the file is empty"),
        ("- a", "gatehouse.yaml:1: expected a mapping"),
        ("a: b\nc: [d", "gatehouse.yaml:2: not valid YAML: did not find expected ',' or ']'"),
        ("a: b\n\tc: d", "gatehouse.yaml:2: not valid YAML: found a tab character that violates indentation"),
        (
            "a:\n\tb: c",
            "gatehouse.yaml:2: not valid YAML: found character that cannot start any token; indent with spaces, not tabs"
        ),
        (
            "a: 'b\nc: d",
            "gatehouse.yaml:2: not valid YAML: found unexpected end of stream; a quote or bracket is not closed"
        ),
        ("a: 1\r\nb: [c\r\nd: 1", "gatehouse.yaml:3: not valid YAML: did not find expected ',' or ']'"),
        ("a: 1\n---\nb: 2", "gatehouse.yaml:2: not valid YAML: but found another document"),
        ("a: 1\nb: \u{01}", "gatehouse.yaml:2: not valid YAML: control characters are not allowed"),
        ("a: *b", "gatehouse.yaml:1: not valid YAML: found undefined alias"),
        ("a: \"\\0\"", "gatehouse.yaml:1: a: holds a NUL character"),
        ("a: 1\nb: 2\na: 3", "gatehouse.yaml:1: a: is more than once in the mapping that begins here"),
        ("1: 1\nb: 2\n\"1\": 3", "gatehouse.yaml:3: 1: is in this mapping already"),
        ("[a, b]: 1", "gatehouse.yaml:1: a key has to be plain text"),
    ])
    func `documents other than a mapping with plain keys`(yaml: String, problem: String) {
        #expect(Fixture.problems(yaml).contains(problem))
    }

    @Test func `aliases may not multiply without end`() {
        let levels = (1...12).map { level in
            "l\(level): &l\(level) [\(Array(repeating: "*l\(level - 1)", count: 10).joined(separator: ", "))]"
        }
        let bomb = "l0: &l0 [x]\n" + levels.joined(separator: "\n")
        #expect(
            Fixture.problems(bomb).contains { $0.contains("more than 100000 values, counting what aliases stand for") })
    }

    @Test func `an alias equals the value that it refers to`() throws {
        let configuration = try Fixture.parse(
            Fixture.required + """
                applications:
                  one: { tokens: &tokens { accessLifetime: 60 } }
                  two: { tokens: *tokens }
                """)
        #expect(configuration.application(named: "two")?.policy.tokens.accessLifetime == .seconds(60))
    }

    @Test(arguments: [40, 900, 5000])
    func `the depth of nesting is limited`(depth: Int) {
        let yaml = "a: " + String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let problems = Fixture.problems(yaml)
        #expect(problems.contains { $0.contains("nested more than 32 levels deep") || $0.contains("nesting level") })
        #expect(problems.allSatisfy { $0.hasPrefix("gatehouse.yaml:1: ") })
    }

    @Test func `a key can't break a line or hide in one`() {
        let problems = Fixture.problems(Fixture.top("\"a\\nb\\e[31m: c\": 1"))
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix(#"gatehouse.yaml:4: "a\nb\u001B[31m: c": unknown key"#) == true)
    }

    @Test func `files that can't be read as text of that size`() throws {
        let directory = try TemporaryDirectory()
        let large = try directory.write(String(repeating: "#", count: 1 << 20) + "\n", to: "large")
        try Data([0x61, 0xFF]).write(to: URL(filePath: "\(directory.path)/binary"))
        for (path, reason) in [
            (large, "is larger than 1 MiB"), ("\(directory.path)/binary", "is not UTF-8 text"),
            ("\(directory.path)/none", "can't be read: No such file or directory"),
            (directory.path, "can't be read: Is a directory"),
        ] {
            let error = #expect(throws: ConfigurationError.self) {
                try Configuration.load(path: path, environment: [:], installed: InstalledProviders([]))
            }
            #expect(error?.description == "\(path): \(reason)")
        }
    }
}
