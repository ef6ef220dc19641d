package import Accounts
package import Foundation
package import ProviderKit

/// Which events of the audit a list shows.
package struct AuditFilter: Sendable {
    package var event: String?
    /// The pseudonym of the account.
    package var account: [UInt8]?
    /// The value of `details.actor`.
    package var actor: JSONValue?
    /// The events from `since` on, and before `until`.
    package var since, until: Date?
}

package protocol AuditListStore: Sendable {
    /// The events before `position`, the newest first.
    func auditEvents(
        _ filter: AuditFilter, before position: (at: Int, id: UUID)?, atMost count: Int, application: Application.ID
    ) async throws -> [AuditEvent]

    /// The events after `last`, the oldest first.
    func auditEvents(
        after last: AuditEvent?, since: Date?, atMost count: Int, application: Application.ID
    ) async throws -> [AuditEvent]

    /// The accounts that these pseudonyms name, as far as they exist.
    func accounts(pseudonyms: [[UInt8]], application: Application.ID) async throws -> [[UInt8]: UUID]

    /// The pseudonym of an account, which an account that was erased no longer has.
    func pseudonym(of uid: UUID, application: Application.ID) async throws -> [UInt8]?
}
