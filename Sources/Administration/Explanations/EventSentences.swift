internal import Accounts
package import ProviderKit

/// The sentences of the timeline, by the name of an audit event and by what decided it.
package enum EventSentences {
    /// The sentences of one event; `{provider}` is replaced by the provider's configured name.
    package struct Entry: Sendable {
        /// The sentence for details that `special` does not name.
        package let general: String
        /// The sentences by the rule, the reason, the cause, the role or the kind in the details.
        package let special: [String: String]

        init(_ general: String, _ special: [String: String] = [:]) { (self.general, self.special) = (general, special) }
    }

    /// The members of the details that can choose a sentence, the most specific first.
    private static let deciding = ["rule", "reason", "by", "role", "kind"]

    /// The entries of all events.
    package static let table: [String: Entry] = [accounts, identities, sessions, secrets, clients, administration]
        .reduce(into: [:]) { $0.merge($1) { $1 } }

    /// The sentence for an event; an event of a later version gets one that says so.
    package static func sentence(for event: String, _ details: JSONValue) -> String {
        guard let entry = table[event] else { return "Something happened that this version has no sentence for." }
        let special = deciding.lazy.compactMap { details[$0].string }.compactMap { entry.special[$0] }.first
        let sentence = (special ?? entry.general).replacing("{provider}", with: name(in: details["provider"]))
        let reason = details["reason"]["code"].string.flatMap(AdministrativeAct.Reason.Code.init(rawValue:))
        return sentence + (reason.map { " Reason: \($0.words)." } ?? "")
    }

    /// The provider's name, which is a key of the configuration.
    private static func name(in value: JSONValue) -> String {
        guard let name = value.string, (1...64).contains(name.utf8.count),
            name.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "-_.".utf8.contains($0) })
        else { return "a provider" }
        return name
    }
}

extension AdministrativeAct.Reason.Code {
    /// The reason as part of a sentence.
    fileprivate var words: String {
        switch self {
        case .personAsked: "the person asked for it"
        case .support: "support"
        case .fraud: "fraud"
        case .abuse: "abuse"
        case .legal: "a legal duty"
        case .error: "an error"
        case .operations: "operations"
        case .test: "a test"
        }
    }
}
