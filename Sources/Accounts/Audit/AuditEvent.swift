package import Foundation

package struct AuditEvent: Sendable, Equatable {
    package let application: Application.ID
    package let id: UUID
    /// The time in microseconds since the epoch, which is the precision of the database.
    package let at: Int
    package let event: String
    /// The account's keyed pseudonym; `nil` for an unknown account.
    package let account: [UInt8]?
    /// The session's pseudonym, made with the key of its account; in events of early versions the session's id.
    package let session: UUID?
    /// The text of a JSON object, as the database writes it.
    package let details: String

    package init(
        application: Application.ID, id: UUID, at: Int, event: String, account: [UInt8]?, session: UUID?,
        details: String
    ) {
        (self.application, self.id, self.at, self.event) = (application, id, at, event)
        (self.account, self.session, self.details) = (account, session, details)
    }

    package var date: Date { Date(timeIntervalSince1970: Double(at) / 1_000_000) }
}

/// How long sealed events are kept, for all applications.
package enum AuditRetention {
    package static let events: Duration = .seconds(400 * 86400)
    /// How long removal waits after the end of the retention period, since the clocks of two machines may differ.
    package static let margin: Duration = .seconds(86400)
}
