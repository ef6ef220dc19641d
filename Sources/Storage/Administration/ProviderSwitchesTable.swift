package import Accounts
package import Administration
package import Foundation
package import Postgres

/// The switches of all applications, which every server follows.
package struct ProviderSwitchesTable: Sendable {
    private let database: Database

    package init(database: Database) { self.database = database }

    private static let selectNow = Statement(.read, "SELECT now()")

    /// The time by the clock that dates switches.
    package func now() async throws -> Date {
        var row = try await database.once(Self.selectNow).firstOrConflict()
        return try row.next()
    }

    private static let selectAll = Statement(
        .read,
        """
        SELECT application_id, id, provider, mode, file_mode, created_at, until, until <= now()
          FROM provider_switches
         WHERE ended_at IS NULL
        """)

    private static let selectBusy = Statement(
        .read,
        """
        SELECT DISTINCT application_id
          FROM provider_switches
         WHERE ended_at IS NULL OR end_reason = 'adopted' AND until > now()
        """)

    /// The applications in which there may be people to tell of a switch, or sessions to end: also those in which the
    /// configuration has adopted one, until its date.
    package func busyApplications() async throws -> Set<Application.ID> {
        Set(try await database.once(Self.selectBusy).decoded { try $0.next(Application.ID.self) })
    }

    package func all() async throws -> [(application: Application.ID, made: ProviderSwitch)] {
        try await database.once(Self.selectAll).decoded { row in
            let application: Application.ID = try row.next()
            return try row.nextSwitch().map { (application, $0) }
        }.compactMap(\.self)
    }
}
