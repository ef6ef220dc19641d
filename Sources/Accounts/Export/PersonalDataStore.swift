package import Foundation

/// What is held about a person, table by table; the audit is apart.
package enum PersonalDataSection: String, Sendable, CaseIterable {
    case account, aliases, identities, addresses, passwords, providerTokens, tokenRevocations, sessions
    case pendingRegistrations, pendingProofs, redirectFlows, merges, erasures, webhookDeliveries, messages
}

/// A row of a section.
package struct PersonalDataRow: Sendable {
    /// Where it stands among the others of its section.
    package let key: String
    /// A JSON object, column by column, times as RFC 3339 has them.
    package let columns: String

    package init(key: String, columns: String) {
        self.key = key
        self.columns = columns
    }
}

package protocol PersonalDataStore: Sendable {
    /// What is held about the account and those that it has absorbed: no secrets, and nothing made of them.
    func personalData(
        _ section: PersonalDataSection, of uid: UUID, application: Application.ID, after key: String?, atMost count: Int
    ) async throws -> [PersonalDataRow]

    /// The pseudonyms under which the audit names the account and those that it has absorbed.
    func pseudonyms(of uid: UUID, application: Application.ID) async throws -> [[UInt8]]
}

/// Somebody who learns of people from this server, or tells it of them.
package struct Recipient: Sendable, Equatable {
    package enum Kind: String, Sendable {
        case webhook, mailRelay, textGateway, provider
    }

    package let name: String
    package let kind: Kind
    /// Hosts, where the configuration names them.
    package let hosts: [String]

    package init(name: String, kind: Kind, hosts: [String]) {
        self.name = name
        self.kind = kind
        self.hosts = hosts
    }
}
