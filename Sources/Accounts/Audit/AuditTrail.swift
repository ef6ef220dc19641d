package import Foundation
package import ProviderKit

/// What is written into the audit by itself; most events come about in the statement that they are about.
package struct AuditEntry: Sendable {
    package enum Event: String, Sendable {
        /// A proof that was not taken, or led nowhere.
        case signInRefused = "sign-in.refused"
        case accountExported = "account.exported"
        case keysRotated = "keys.rotated"
        /// By hand; of an account where only that one was meant.
        case purgeRun = "purge.run"
    }

    package let event: Event
    /// Whose it is, where that is known.
    package var uid: UUID?
    /// Else whoever has this identity, or owns one of these addresses.
    package var provider: String?
    package var providerUid: String?
    package var addresses: [Address] = []
    package var session: UUID?
    /// Where it is counted if it is of no account; without one it is an event of its own.
    package var source: RefusalSource?
    /// Names of rules, codes and providers, never what a person typed.
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
    /// Evidence that was right, and that the rules refuse.
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
