package import Foundation
package import ProviderKit

/// The configuration that the server runs with, as administrators see it.
package protocol ConfigurationInForce: Sendable {
    /// Every key with its value.
    var values: [ConfigurationValue] { get }
    /// The changed file that the server has refused, until it takes one over.
    var refused: RefusedConfiguration? { get }
}

/// A key of the configuration.
package struct ConfigurationValue: Sendable, Equatable {
    package enum Source: Sendable, Equatable {
        case file(line: Int?)
        case standard
        /// The text in the file names an environment variable.
        case environment
    }

    /// The path of the key, such as `passwords.minimumLength`.
    package let key: String
    /// The value with durations in seconds; `"set"` for secrets and contents of files.
    package let value: JSONValue
    package let source: Source
    /// The application that the key belongs to; `nil` for keys of all.
    package let application: String?

    package init(key: String, value: JSONValue, source: Source, application: String?) {
        (self.key, self.value, self.source, self.application) = (key, value, source, application)
    }
}

package struct RefusedConfiguration: Sendable, Equatable {
    package struct Problem: Sendable, Equatable {
        package let line: Int?
        /// The key; empty for the whole file.
        package let key: String
        package let reason: String
        /// The application that the key belongs to; `nil` for keys of all.
        package let application: String?

        package init(line: Int?, key: String, reason: String, application: String?) {
            (self.line, self.key, self.reason, self.application) = (line, key, reason, application)
        }
    }

    package let at: Date
    package let problems: [Problem]

    package init(at: Date, problems: [Problem]) { (self.at, self.problems) = (at, problems) }
}
