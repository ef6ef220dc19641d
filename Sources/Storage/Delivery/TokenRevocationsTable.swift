package import Accounts
internal import Foundation
package import Postgres
internal import ProviderKit

/// Takes tokens to revoke at the services that issued them, and records the outcome.
package struct TokenRevocationsTable: RevocationQueue {
    private let database: Database
    private let turns: ApplicationTurns
    private let sealing: any Sealing
    private let scope: DeliveryScope
    package let arrivals: AsyncStream<Void>

    package init(database: Database, sealing: any Sealing, scope: DeliveryScope = .all, arrivals: AsyncStream<Void>) {
        self.database = database
        turns = ApplicationTurns(.applicationsWithDueRevocations, database: database)
        self.sealing = sealing
        self.scope = scope
        self.arrivals = arrivals
    }

    private static let take = Statement(
        .write,
        """
        WITH due AS MATERIALIZED (
            SELECT id FROM token_revocations
             WHERE application_id = $1 AND revoked_at IS NULL AND failed_at IS NULL AND due_at <= now()
               AND ($4::uuid[] IS NULL OR uid = ANY ($4))
             ORDER BY due_at
             LIMIT $2
               FOR UPDATE SKIP LOCKED
        ), taken AS (
            UPDATE token_revocations r
               SET due_at = now() + $3::interval, leased_until = now() + $3::interval, attempts = attempts + 1
              FROM due
             WHERE r.application_id = $1 AND r.id = due.id
            RETURNING r.id, r.provider, r.identity_id, r.sealed, r.created_at, r.attempts - 1 AS attempts
        )
        SELECT id, provider, identity_id, sealed, created_at, attempts FROM taken ORDER BY created_at, id
        """)

    package func take(_ places: [TakenRevocation.Lane: Int], lease: Duration) async throws -> [TakenRevocation] {
        try await turns.take(places, dueBy: []) { try await take($2[.all] ?? 0, of: $0, named: $1, lease: lease) }
    }

    private func take(
        _ count: Int, of application: Application.ID, named name: String, lease: Duration
    ) async throws -> [TakenRevocation] {
        let rows = try await database.once(
            Self.take, [.application(application), .int(count), .interval(lease), scope.bind])
        var taken: [TakenRevocation] = []
        for var row in rows {
            let id: UUID = try row.next()
            let provider: String = try row.next()
            let identity: UUID = try row.next()
            let place = SealingPlace.tokens(application: application, identity: identity)
            let tokens: ProviderTokens? = sealing.decoded(try row.next(), at: place)
            let createdAt: Date = try row.next()
            let attempts: Int = try row.next()
            guard let tokens else {
                try await markFailed(
                    id, application: application, reason: "unreadable", retryAfter: nil, attempts: attempts)
                continue
            }
            taken.append(
                TakenRevocation(
                    id: id, application: application, applicationName: name, provider: provider, tokens: tokens,
                    createdAt: createdAt, attempts: attempts))
        }
        return taken
    }

    /// Also makes the erasure that waits for the revocation due, since a minute ago as an acknowledgement of a webhook does.
    ///
    /// If the account was erased in the meantime, only the day is kept, as for a webhook.
    private static let markRevoked = Statement(
        .write,
        """
        WITH revoked AS (
            UPDATE token_revocations
               SET revoked_at = CASE WHEN is_of_erasure THEN whole_day(clock.now) ELSE clock.now END,
                   identity_id = CASE WHEN is_of_erasure THEN id ELSE identity_id END,
                   created_at = CASE WHEN is_of_erasure THEN whole_day(created_at) ELSE created_at END,
                   sealed = NULL, failure = NULL, leased_until = NULL
              FROM (SELECT now() AS now) AS clock
             WHERE application_id = $1 AND id = $2 AND revoked_at IS NULL AND failed_at IS NULL
            RETURNING uid
        )
        UPDATE erasures e SET look_again_at = now() - interval '1 minute'
          FROM revoked r
         WHERE e.application_id = $1 AND e.uid = r.uid
           AND e.began_at IS NOT NULL AND e.restored_at IS NULL AND e.erased_at IS NULL
        """)

    package func markDelivered(_ entry: TakenRevocation) async throws {
        try await database.once(Self.markRevoked, [.application(entry.application), .uuid(entry.id)])
    }

    /// Leaves a revocation alone that another worker has taken since.
    ///
    /// Citus refuses a sum of times beside `whole_day` of a column in one SET.
    private static let markFailed = Statement(
        .write,
        """
        UPDATE token_revocations
           SET due_at = clock.due_at, failure = $4, leased_until = NULL,
               failed_at = CASE WHEN $3::interval IS NULL THEN
                                CASE WHEN is_of_erasure THEN whole_day(clock.now) ELSE clock.now END END,
               identity_id = CASE WHEN is_of_erasure AND $3::interval IS NULL THEN id ELSE identity_id END,
               created_at = CASE WHEN is_of_erasure AND $3::interval IS NULL THEN whole_day(created_at)
                                 ELSE created_at END,
               sealed = CASE WHEN $3::interval IS NOT NULL THEN sealed END
          FROM (SELECT now() AS now, now() + coalesce($3, interval '0') AS due_at) AS clock
         WHERE application_id = $1 AND id = $2 AND attempts = $5 AND revoked_at IS NULL AND failed_at IS NULL
        """)

    package func markFailed(_ entry: TakenRevocation, reason: String, retryAfter delay: Duration?) async throws {
        try await markFailed(
            entry.id, application: entry.application, reason: reason, retryAfter: delay, attempts: entry.attempts)
    }

    private func markFailed(
        _ id: UUID, application: Application.ID, reason: String, retryAfter delay: Duration?, attempts: Int
    ) async throws {
        try await database.once(
            Self.markFailed,
            [.application(application), .uuid(id), .interval(delay), .text(reason), .int(attempts + 1)])
    }
}
