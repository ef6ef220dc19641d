package import Accounts
package import Foundation
package import ProviderKit

/// Reads the audit of single accounts.
package protocol ExplanationStore: Sendable {
    /// The events of the accounts with these pseudonyms, the newest first.
    ///
    /// `position` is the time, in microseconds since the epoch, and the id of the event before the first one.
    func timeline(
        of accounts: [[UInt8]], before position: (at: Int, id: UUID)?, atMost count: Int, application: Application.ID
    ) async throws -> [AuditEvent]

    /// How an account was created; `nil` for an unknown account.
    func origin(of uid: UUID, application: Application.ID) async throws -> AccountOrigin?
}

/// How an account was created, as far as the audit and the account's identities still show it.
package struct AccountOrigin: Sendable {
    package let createdAt: Date
    /// The details of the event `account.created`; `nil` after the retention of the audit.
    package let creation: JSONValue?
    /// The oldest of the account's identities that was added by an event of the account itself.
    package let first: FirstIdentity?

    package init(createdAt: Date, creation: JSONValue?, first: FirstIdentity?) {
        (self.createdAt, self.creation, self.first) = (createdAt, creation, first)
    }
}

/// An identity, with the event that added it to its account.
package struct FirstIdentity: Sendable {
    package let identity: Identity
    /// Whether the event is `account.created`; otherwise it is `identity.linked`.
    package let isCreation: Bool
    package let details: JSONValue

    package init(_ identity: Identity, isCreation: Bool, details: JSONValue) {
        (self.identity, self.isCreation, self.details) = (identity, isCreation, details)
    }
}
