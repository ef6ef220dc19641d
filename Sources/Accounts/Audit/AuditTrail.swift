package import Foundation
package import ProviderKit

/// An audit event with a call of its own; most others are written by the statement of the change that they describe.
package struct AuditEntry: Sendable {
    package enum Event: String, Sendable, CaseIterable {
        /// A proof was invalid, or the linking rules refused it.
        case signInRefused = "sign-in.refused"
        /// An OpenID client could not be authenticated.
        case clientRefused = "client.refused"
        /// The person has allowed or refused a sign-in at another device, by a QR code.
        case qrConfirmed = "qr.confirmed"
        case qrRefused = "qr.refused"
        /// A client has inspected tokens of the API; one event counts the calls of a minute.
        case tokenIntrospected = "token.introspected"
        /// An administrator lacked the scope for a call.
        case adminRefused = "admin.refused"
        /// An administrator has ended sessions of an account; each of them has an event of its own besides.
        case sessionsEnded = "sessions.ended"
        /// An administrator has written a note about an account.
        case noteAdded = "account.note-added"
        /// An administrator has searched for accounts, or was shown fields of one unmasked.
        case accountsSearched = "accounts.searched"
        case accountRevealed = "account.revealed"
        /// An administrator has invited a person, who has no account yet.
        case invitationSent = "invitation.sent"
        /// An administrator has had a link made that lets the owner into the account.
        case recoverySent = "account.recovery-sent"
        /// Such a link was used.
        case accountRecovered = "account.recovered"
        case accountExported = "account.exported"
        case keysRotated = "keys.rotated"
        /// An administrator has had the tokens of a signing key refused from now on.
        case keyRetired = "key.retired"
        /// An administrator has exported the audit of the application.
        case auditExported = "audit.exported"
        /// An administrator has looked for the locks of an address.
        case limitsSearched = "limits.searched"
        /// An administrator has sent a test event to a webhook.
        case webhookTested = "webhook.tested"
        /// An administrator has had a provider, or settings of one, checked together with its service.
        case providerDiagnosed = "provider.diagnosed"
        /// An administrator has begun to try a provider with an account of their own there.
        case providerTried = "provider.tried"
        /// An admin ran the purge for one account or for all.
        case purgeRun = "purge.run"
    }

    package let event: Event
    package var uid: UUID?
    /// If `uid` is `nil`, the event is recorded for the account that has this identity or owns one of `addresses`.
    package var provider: String?
    package var providerUid: String?
    package var addresses: [Address] = []
    package var session: UUID?
    /// The source under which a refusal that concerns no account is counted; `nil` records an event instead.
    package var source: RefusalSource?
    /// Names of rules, codes and providers, but never input from a client.
    package var details: [String: JSONValue] = [:]

    package init(_ event: Event, of uid: UUID? = nil, session: UUID? = nil, details: [String: JSONValue] = [:]) {
        (self.event, self.uid, self.session, self.details) = (event, uid, session, details)
    }
}

package protocol AuditTrail: Sendable {
    func record(_ entry: AuditEntry, application: Application.ID) async throws
}

extension AuditEntry {
    /// The audit entry for valid evidence that a linking rule refuses.
    static func refusal(_ rule: LinkingRule, of session: NewSession, uid: UUID? = nil) -> AuditEntry {
        var entry = AuditEntry(
            .signInRefused, of: uid, session: session.resumes,
            details: ["provider": .string(session.provider), "rule": .string(rule.rawValue)])
        entry.details["dialect"] = session.client.dialect.map { .string($0) }
        entry.provider = session.provider
        entry.providerUid = session.evidence.providerUid
        entry.addresses = session.evidence.proven
        return entry
    }
}
