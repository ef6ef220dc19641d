package import Accounts
package import Administration
internal import Foundation
internal import Postgres

/// The accounts of an application, the newest first.
///
/// The lists of states that few accounts have, and those of a provider, have indexes of their own, so that a page reads
/// little more than what it has. Conditions on other tables are subqueries that return one value: unlike EXISTS and
/// joins, these are never planned as reads of a whole table.
extension SQLStore {
    private static let accountsInRange: StaticString = """
        SELECT a.uid, a.created_at
          FROM accounts a
         WHERE a.application_id = $1 AND (a.created_at, a.uid) < ($2, $3) AND a.created_at > $4
        """

    private static let selectNewest = Statement(
        .read, accountsInRange,
        """
           AND (NOT $5 OR a.disabled_at IS NULL AND a.deleted_at IS NULL AND a.absorbed_by IS NULL
                AND coalesce((SELECT bool_or(NOT i.is_guest) FROM identities i
                               WHERE i.application_id = $1 AND i.uid = a.uid), true))
         ORDER BY a.created_at DESC, a.uid DESC
         LIMIT $6
        """)

    private static let ofProviderNewestFirst: StaticString = """
           AND ($5::text IS NULL OR (SELECT bool_or(i.provider = $5) FROM identities i
                                      WHERE i.application_id = $1 AND i.uid = a.uid))
         ORDER BY a.created_at DESC, a.uid DESC
         LIMIT $6
        """

    private static let selectNewestDisabled = Statement(
        .read, accountsInRange, "AND a.disabled_at IS NOT NULL AND a.deleted_at IS NULL AND a.absorbed_by IS NULL",
        ofProviderNewestFirst)

    private static let selectNewestDeleted = Statement(
        .read, accountsInRange, "AND a.deleted_at IS NOT NULL AND a.absorbed_by IS NULL", ofProviderNewestFirst)

    private static let selectNewestAbsorbed = Statement(
        .read, accountsInRange, "AND a.absorbed_by IS NOT NULL", ofProviderNewestFirst)

    private static let selectNewestOfProvider = Statement(
        .read,
        """
        SELECT DISTINCT ON (i.uid) i.uid,
               (SELECT a.created_at FROM accounts a WHERE a.application_id = $1 AND a.uid = i.uid)
          FROM identities i
         WHERE i.application_id = $1 AND i.provider = $2 AND i.uid < $3 AND i.uid > $4
           AND (SELECT a.created_at < $5 AND a.created_at > $6
                       AND ($7::bool IS NULL
                            OR a.disabled_at IS NULL AND a.deleted_at IS NULL AND a.absorbed_by IS NULL
                               AND $7 = (SELECT bool_and(o.is_guest) FROM identities o
                                          WHERE o.application_id = $1 AND o.uid = a.uid))
                  FROM accounts a
                 WHERE a.application_id = $1 AND a.uid = i.uid)
         ORDER BY i.uid DESC
         LIMIT $8
        """)

    private static let selectNewestGuests = Statement(
        .read,
        """
        SELECT DISTINCT ON (i.uid) i.uid,
               (SELECT a.created_at FROM accounts a WHERE a.application_id = $1 AND a.uid = i.uid)
          FROM identities i
         WHERE i.application_id = $1 AND i.is_guest AND i.uid < $2 AND i.uid > $3
           AND (SELECT a.created_at < $4 AND a.created_at > $5
                       AND a.disabled_at IS NULL AND a.deleted_at IS NULL AND a.absorbed_by IS NULL
                       AND (SELECT bool_and(o.is_guest) FROM identities o
                             WHERE o.application_id = $1 AND o.uid = a.uid)
                  FROM accounts a
                 WHERE a.application_id = $1 AND a.uid = i.uid)
         ORDER BY i.uid DESC
         LIMIT $6
        """)

    package func accounts(
        _ filter: AccountFilter, after position: AccountPosition?, limit: Int, application: Application.ID
    ) async throws -> [AccountPosition] {
        let (statement, binds) = Self.query(filter, after: position, limit: limit, application: application)
        return try await run(statement, binds).decoded { row in
            let uid: UUID = try row.next()
            return AccountPosition(createdAt: try row.next(), uid: uid)
        }
    }

    private static func query(
        _ filter: AccountFilter, after position: AccountPosition?, limit: Int, application: Application.ID
    ) -> (statement: Statement, binds: [Bind]) {
        let (after, before) = (filter.createdAfter ?? .distantlyPast, filter.createdBefore ?? .distantlyFuture)
        let uids: [Bind] = [
            .uuid(position?.uid ?? .last(createdBefore: filter.createdBefore)), .uuid(.first(filter.createdAfter)),
        ]
        let times: [Bind] = [.timestamp(before), .timestamp(after)]
        // No uid is lower than zero, so that without a position nothing of the very time `before` is selected.
        let upper = position ?? AccountPosition(createdAt: before, uid: .zero)
        let range: [Bind] = [
            .application(application), .timestamp(upper.createdAt), .uuid(upper.uid), .timestamp(after),
        ]
        func rare(_ statement: Statement) -> (statement: Statement, binds: [Bind]) {
            (statement, range + [.text(filter.provider), .int(limit)])
        }
        switch filter.state {
        case .disabled: return rare(selectNewestDisabled)
        case .deleted: return rare(selectNewestDeleted)
        case .absorbed: return rare(selectNewestAbsorbed)
        case .live, .guest, nil: break
        }
        if let provider = filter.provider {
            let isGuest = filter.state.map { $0 == .guest }
            return (
                selectNewestOfProvider,
                [.application(application), .text(provider)] + uids + times + [.bool(isGuest), .int(limit)]
            )
        }
        if filter.state == .guest {
            return (selectNewestGuests, [.application(application)] + uids + times + [.int(limit)])
        }
        return (selectNewest, range + [.bool(filter.state == .live), .int(limit)])
    }
}

extension Date {
    fileprivate static var distantlyPast: Date { Date(timeIntervalSinceReferenceDate: -.infinity) }
    fileprivate static var distantlyFuture: Date { Date(timeIntervalSinceReferenceDate: .infinity) }
}

extension UUID {
    /// Servers make uids by their own clocks, so the range that is searched is wider by a day.
    private static let margin: TimeInterval = 86_400

    /// A uid below those of accounts created after a time; the lowest without a time.
    fileprivate static func first(_ time: Date?) -> UUID {
        time.map { .firstV7(at: $0 - margin) } ?? .zero
    }

    /// A uid above those of accounts created before a time; the highest without a time.
    fileprivate static func last(createdBefore time: Date?) -> UUID {
        .firstV7(at: time.map { $0 + margin } ?? .distantlyFuture)
    }
}
