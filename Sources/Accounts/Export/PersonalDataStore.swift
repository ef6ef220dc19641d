package import Foundation

/// The sections of personal data, one for each table except the audit.
package enum PersonalDataSection: String, Sendable, CaseIterable {
    case account, aliases, identities, addresses, passwords, providerTokens, tokenRevocations, sessions
    case pendingRegistrations, pendingProofs, redirectFlows, merges, erasures, webhookDeliveries, messages
    case consents, instances, handoffs, pins, adminGrants, adminNotes
}

package struct PersonalDataRow: Sendable {
    /// The position of the row in its section.
    package let key: String
    /// The columns as a JSON object, with times in RFC 3339 format.
    package let columns: String

    package init(key: String, columns: String) { (self.key, self.columns) = (key, columns) }
}

package protocol PersonalDataStore: Sendable {
    /// Returns rows about the account and those that it absorbed, without secrets and what is derived from them.
    func personalData(
        _ section: PersonalDataSection, of uid: UUID, application: Application.ID, after key: String?, atMost count: Int
    ) async throws -> [PersonalDataRow]

    /// The audit pseudonyms of the account and of the accounts that it absorbed.
    func pseudonyms(of uid: UUID, application: Application.ID) async throws -> [[UInt8]]
}

/// A recipient or source of personal data.
package struct Recipient: Sendable, Equatable {
    package enum Kind: String, Sendable { case webhook, mailRelay, textGateway, provider, client }

    package let name: String
    package let kind: Kind
    /// The recipient's hosts, as configured.
    package let hosts: [String]
    /// The id of an OpenID client, which receives data only with a consent.
    package var client: String?

    package init(name: String, kind: Kind, hosts: [String]) { (self.name, self.kind, self.hosts) = (name, kind, hosts) }
}
