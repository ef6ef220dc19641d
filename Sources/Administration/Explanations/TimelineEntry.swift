internal import Accounts
package import Foundation
package import ProviderKit

/// An event of an account's audit, with a sentence that says what has happened.
package struct TimelineEntry: Sendable, Equatable {
    package let at: Date
    package let event: String
    /// Contains no text from outside.
    package let sentence: String
    /// The linking rule that decided.
    package let rule: String?
    /// The administrator who acted.
    package let actor: JSONValue?
    package let provider: String?
    /// All details of the event, each text cut at `longestText`.
    package let details: JSONValue

    /// The most Unicode scalars of a text in the details, which may be from outside.
    package static let longestText = 300

    init(_ event: AuditEvent) throws {
        let details = try JSONValue(jsonText: event.details).cut(at: Self.longestText)
        (at, self.event, self.details) = (event.date, event.event, details)
        sentence = EventSentences.sentence(for: event.event, details)
        (rule, provider) = (details["rule"].string, details["provider"].string)
        actor = details["actor"].isNull ? nil : details["actor"]
    }
}

extension JSONValue {
    fileprivate func cut(at length: Int) -> JSONValue {
        switch self {
        case .string(let text): .string(String(text.unicodeScalars.prefix(length)))
        case .array(let items): .array(items.map { $0.cut(at: length) })
        case .object(let members): .object(members.mapValues { $0.cut(at: length) })
        case .null, .bool, .integer, .number: self
        }
    }
}
