import Foundation

/// Programs that some tests need, and that not every developer has.
enum NeededProgram {
    /// Whether tests fail, instead of being skipped, if a program or a right is missing: in continuous integration, and
    /// with `GATEHOUSE_STRICT`.
    static let isStrict = {
        let environment = ProcessInfo.processInfo.environment
        return ["CI", "GATEHOUSE_STRICT"].contains { !["", "0", "false"].contains(environment[$0] ?? "") }
    }()

    /// Whether the tests that need a program run; if they must and it is missing, they fail.
    static func isExpected(_ path: String) -> Bool {
        isStrict || FileManager.default.isExecutableFile(atPath: path)
    }
}
