package import Foundation

/// An audit event as it is stored.
package struct AuditEvent: Sendable, Equatable {
    package let application: Application.ID
    package let id: UUID
    /// In microseconds since the epoch, the precision of the database.
    package let at: Int
    package let event: String
    /// The account's keyed pseudonym; `nil` for an unknown account.
    package let account: [UInt8]?
    /// The session's pseudonym under its account's key; its id in events of early versions.
    package let session: UUID?
    /// The text of a JSON object, as the database writes it.
    package let details: String

    package init(
        application: Application.ID, id: UUID, at: Int, event: String, account: [UInt8]?, session: UUID?,
        details: String
    ) {
        self.application = application
        self.id = id
        self.at = at
        self.event = event
        self.account = account
        self.session = session
        self.details = details
    }

    package var date: Date { Date(timeIntervalSince1970: Double(at) / 1_000_000) }
}

/// How long events are kept after they were sealed, in all applications.
package enum AuditRetention {
    package static let events: Duration = .seconds(400 * 86400)
    /// How long after retention events are removed, since the clocks of two machines may differ.
    package static let margin: Duration = .seconds(86400)
}
