package import Postgres

/// Counts refusals that concern no known account, by client network, route and minute.
///
/// The statement that records a refusal counts it in an unlogged table, so a crash of the database loses the counts of
/// the last minutes. When a minute is over, its counts become audit events, which are sealed like any other.
package struct RefusalsTable: Sendable {
    private let database: Database

    package init(database: Database) {
        self.database = database
    }

    private static let moveToAudit = Statement(
        .write,
        """
        WITH over AS (
            DELETE FROM refusals WHERE minute < date_trunc('minute', now())
            RETURNING application_id, minute, network, route, refusal, count
        )
        INSERT INTO audit_events (application_id, event, details)
        SELECT application_id, 'sign-in.refused',
               jsonb_build_object(
                   'route', route, 'network', encode(network, 'hex'), 'minute', rfc3339(minute), 'count', sum(count),
                   'refusals', jsonb_object_agg(refusal, count))
          FROM over
         WHERE refusal NOT LIKE 'client.refused %'
         GROUP BY application_id, minute, network, route
        UNION ALL
        SELECT application_id, 'client.refused',
               jsonb_strip_nulls(
                   jsonb_build_object(
                       'client', nullif(substr(refusal, 16), ''), 'network', encode(network, 'hex'),
                       'minute', rfc3339(minute), 'count', sum(count)))
          FROM over
         WHERE refusal LIKE 'client.refused %'
         GROUP BY application_id, minute, network, refusal
        """)

    /// Writes one event for each network, route and minute that is over, and one for each refused client and network.
    package func moveToAudit() async throws {
        try await database.once(Self.moveToAudit)
    }
}
