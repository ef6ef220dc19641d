/// One thing that is wrong in a configuration file.
///
/// Nothing in it repeats a value from the file.
package struct ConfigurationProblem: Sendable, Equatable, CustomStringConvertible {
    /// As the file was named by whoever asked for it.
    package let file: String
    /// From 1; `nil` where the file as a whole is at fault.
    package let line: Int?
    /// As in `applications.demo.redirectURIs[0].pkce`; empty for the document itself.
    package let path: String
    package let reason: String

    /// `gatehouse.yaml:12: applications.demo.tokens.algorithm: expected one of RS256, ES256, EdDSA`; always one line.
    package var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return [place, path, reason].filter { !$0.isEmpty }.joined(separator: ": ").escapingControlCharacters
    }
}

/// Why a configuration is refused: everything that is wrong with it, in the order of its lines.
package struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    package let problems: [ConfigurationProblem]

    init(_ problems: [ConfigurationProblem]) {
        self.problems = problems
    }

    /// One line for each problem.
    package var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}
