/// One check of a provider's settings and service.
public struct ProviderCheck: Sendable {
    /// Names the check: `name`, `tls`, `discovery`, `issuer`, `keys`, `clock`, `client`.
    public let id: String
    /// The ids of earlier checks that must have succeeded; otherwise this one is skipped.
    public let needs: [String]
    private let body: @Sendable () async -> CheckOutcome

    /// Creates a check.
    public init(_ id: String, after needs: [String] = [], _ body: @escaping @Sendable () async -> CheckOutcome) {
        (self.id, self.needs, self.body) = (id, needs, body)
    }

    /// Runs the check.
    package func run() async -> CheckOutcome { await body() }
}

/// What a check has found.
public struct CheckOutcome: Sendable, Equatable {
    /// How a check has ended.
    public enum State: String, Sendable, CaseIterable {
        case ok, warning, failed, skipped
    }

    /// How the check has ended.
    public let state: State
    /// What was found, for an administrator.
    public let sentence: String
    /// What to do about it; `nil` if there is nothing to do.
    public let remedy: String?
    /// What the finding is based on, such as a status; never a secret.
    public let evidence: String?

    private init(_ state: State, _ sentence: String, _ remedy: String?, _ evidence: String?) {
        (self.state, self.sentence, self.remedy) = (state, sentence, remedy)
        self.evidence = evidence.map(Self.shortened)
    }

    /// Everything is as it should be.
    public static func ok(_ sentence: String, evidence: String? = nil) -> CheckOutcome {
        CheckOutcome(.ok, sentence, nil, evidence)
    }

    /// It works, but perhaps not as intended.
    public static func warning(_ sentence: String, remedy: String, evidence: String? = nil) -> CheckOutcome {
        CheckOutcome(.warning, sentence, remedy, evidence)
    }

    /// People can't sign in.
    public static func failed(_ sentence: String, remedy: String, evidence: String? = nil) -> CheckOutcome {
        CheckOutcome(.failed, sentence, remedy, evidence)
    }

    /// People can't sign in, because of a known finding.
    public static func failed(_ finding: ProviderFinding, evidence: String? = nil) -> CheckOutcome {
        let evidence = [finding.rawValue, evidence].compactMap(\.self).joined(separator: ": ")
        return CheckOutcome(.failed, finding.sentence, finding.remedy, evidence)
    }

    /// The check was not made.
    public static func skipped(_ sentence: String) -> CheckOutcome { CheckOutcome(.skipped, sentence, nil, nil) }

    /// Evidence may be text of the service, of any length and with any character.
    private static func shortened(_ text: String) -> String {
        let characters = text.unicodeScalars.prefix(300).map { scalar -> Character in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: " "
            default: Character(scalar)
            }
        }
        return String(characters)
    }
}
