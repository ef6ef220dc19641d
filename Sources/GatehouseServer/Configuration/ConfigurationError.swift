internal import Logging

/// A problem in a configuration file.
///
/// It never repeats a value from the file.
package struct ConfigurationProblem: Sendable, Equatable, CustomStringConvertible {
    /// The path as it was given.
    package let file: String
    /// The line number, counted from 1; `nil` if the problem concerns the whole file.
    package let line: Int?
    /// The path of the setting, such as `applications.demo.redirectURIs[0].pkce`; empty for the whole document.
    package let path: String
    package let reason: String

    /// `gatehouse.yaml:12: applications.demo.tokens.algorithm: expected one of RS256, ES256, EdDSA`; always one line.
    package var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return [place, path, reason].filter { !$0.isEmpty }.joined(separator: ": ").escapingControlCharacters
    }
}

/// All problems of a configuration file, in the order of its lines.
package struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    package let problems: [ConfigurationProblem]

    init(_ problems: [ConfigurationProblem]) { self.problems = problems }

    /// One line for each problem.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}

extension Logger {
    /// Logs the settings of an accepted configuration that are probably mistakes.
    func note(_ warnings: [ConfigurationProblem]) {
        for warning in warnings { notice("configuration is incomplete", metadata: ["problem": "\(warning)"]) }
    }
}
