package import Foundation

/// What the configuration says of a provider besides its settings.
package struct ProviderDeclaration: Sendable, Equatable {
    /// The mode in the configuration.
    package let mode: ProviderMode
    /// How the configuration states the mode, as in `mode: open` or `enabled: true`; `nil` if it states none.
    package let statement: String?
    /// The file's name and the number of the line at which the provider begins.
    package let file: String?
    package let line: Int?
    /// When the secret that the provider has issued expires.
    package let secretExpires: Date?

    package init(
        mode: ProviderMode, statement: String? = nil, file: String? = nil, line: Int? = nil,
        secretExpires: Date? = nil
    ) {
        (self.mode, self.statement, self.file, self.line) = (mode, statement, file, line)
        self.secretExpires = secretExpires
    }
}

extension ProviderMode {
    /// Whether the mode allows less than another one.
    package func isNarrower(than other: ProviderMode) -> Bool { openness < other.openness }

    private var openness: Int {
        switch self {
        case .open: 3
        case .existing: 2
        case .linkOnly: 1
        case .off: 0
        }
    }
}
