package import Foundation
package import ProviderKit

/// An audit event that is written on its own; most events are written by the statement that they describe.
package struct AuditEntry: Sendable {
    package enum Event: String, Sendable {
        /// A proof was invalid, or the linking rules refused it.
        case signInRefused = "sign-in.refused"
        case accountExported = "account.exported"
        case keysRotated = "keys.rotated"
        /// An admin ran the purge, of one account or of all.
        case purgeRun = "purge.run"
    }

    package let event: Event
    /// The account, if it is known.
    package var uid: UUID?
    /// Otherwise the account that has this identity, or owns one of the addresses.
    package var provider: String?
    package var providerUid: String?
    package var addresses: [Address] = []
    package var session: UUID?
    /// The counter of a refusal that concerns no account; without it the refusal is an event.
    package var source: RefusalSource?
    /// Names of rules, codes and providers, never input of a person.
    package var details: [String: JSONValue] = [:]

    package init(_ event: Event, of uid: UUID? = nil, session: UUID? = nil, details: [String: JSONValue] = [:]) {
        self.event = event
        self.uid = uid
        self.session = session
        self.details = details
    }
}

package protocol AuditTrail: Sendable {
    func record(_ entry: AuditEntry, application: Application.ID) async throws
}

extension AuditEntry {
    /// Valid evidence that the linking rules refuse.
    static func refusal(_ rule: LinkingRule, of session: NewSession, uid: UUID? = nil) -> AuditEntry {
        var entry = AuditEntry(
            .signInRefused, of: uid, session: session.resumes,
            details: ["provider": .string(session.provider), "rule": .string(rule.rawValue)])
        entry.provider = session.provider
        entry.providerUid = session.evidence.providerUid
        entry.addresses = session.evidence.proven
        return entry
    }
}
