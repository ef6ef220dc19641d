package import Foundation

/// An event of the audit as it was written.
package struct AuditEvent: Sendable, Equatable {
    package let application: Application.ID
    package let id: UUID
    /// Microseconds since the epoch, exactly as the database has them.
    package let at: Int
    package let event: String
    /// Whose it is, by the keyed pseudonym; nobody's where the account was unknown.
    package let account: [UInt8]?
    /// The session by a pseudonym under its account's key; by its id in events of early versions.
    package let session: UUID?
    /// A JSON object, as the database writes it.
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

/// How long events are kept, from when they were sealed.
///
/// The configuration has no key for it: whoever runs several applications keeps all their events equally long.
package enum AuditRetention {
    package static let events: Duration = .seconds(400 * 86400)
    /// What is removed was past retention for so long: the clocks of two machines need not agree.
    package static let margin: Duration = .seconds(86400)
}
