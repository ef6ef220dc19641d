package import Accounts
internal import Foundation
internal import Postgres

extension SQLStore: StatisticsStore {
    /// Adds to the rows in the order of their key, so that two replicas that add to the same rows never deadlock.
    private static let addCounts = Statement(
        .write,
        """
        INSERT INTO statistics AS s (application_id, name, step, at, label, count)
        SELECT $1, counted.name, step.name, date_bin(step.length, now(), 'epoch'), counted.label, counted.count
          FROM unnest($2::text[], $3::text[], $4::bigint[]) AS counted (name, label, count),
               unnest(ARRAY['minute', 'hour'], ARRAY[interval '1 minute', interval '1 hour']) AS step (name, length)
         ORDER BY counted.name, step.name, counted.label
        ON CONFLICT (application_id, name, step, at, label) DO UPDATE SET count = s.count + excluded.count
        """)

    package func add(_ counts: [Statistics.Key: Int], application: Application.ID) async throws {
        let counts = Array(counts)
        try await write(
            Self.addCounts,
            [
                .application(application), .texts(counts.map(\.key.statistic.rawValue)),
                .texts(counts.map(\.key.label)), .ints(counts.map(\.value)),
            ])
    }

    private static let selectSeries = Statement(
        .read,
        """
        SELECT label, at, count
          FROM (SELECT label, date_bin($7::interval, at, 'epoch') AS at, sum(count)::bigint AS count
                  FROM statistics
                 WHERE application_id = $1 AND name = $2 AND step = $3 AND at >= $4 AND at < $5
                   AND ($6::text IS NULL OR label = $6)
                 GROUP BY 1, 2) AS points
         ORDER BY sum(count) OVER (PARTITION BY label) DESC, label, at
         LIMIT $8
        """)

    package func series(
        of statistic: Statistic, label: String?, in period: StatisticsPeriod, limit: Int, application: Application.ID
    ) async throws -> [StatisticsSeries] {
        let rows = try await run(
            Self.selectSeries,
            [
                .application(application), .text(statistic.rawValue), .text(period.storedStep),
                .timestamp(period.start), .timestamp(period.end), .text(label),
                .interval(period.step.duration), .int(limit + 1),
            ])
        var series: [StatisticsSeries] = []
        for var row in rows {
            let label: String = try row.next()
            if series.last?.label != label { series.append(StatisticsSeries(label: label, points: [])) }
            let point = StatisticsSeries.Point(time: try row.next(), count: try row.next())
            series[series.endIndex - 1].points.append(point)
        }
        // One point more than asked for was read, so the last label may be incomplete.
        if rows.count > limit { series.removeLast() }
        return series
    }

    private static let selectRecent = Statement(
        .read,
        """
        SELECT label, sum(count)::bigint, max(at)
          FROM statistics
         WHERE application_id = $1 AND name = $2 AND step = 'minute' AND at >= now() - $3::interval
         GROUP BY label
         ORDER BY label
        """)

    package func recentCounts(
        of statistic: Statistic, within window: Duration, application: Application.ID
    ) async throws -> [String: RecentCount] {
        let rows = try await run(
            Self.selectRecent, [.application(application), .text(statistic.rawValue), .interval(window)])
        let counts = try rows.decoded { row in
            (try row.next(String.self), RecentCount(count: try row.next(), last: try row.next()))
        }
        return Dictionary(counts) { first, _ in first }
    }
}

extension StatisticsPeriod {
    /// Days are sums of hours.
    fileprivate var storedStep: String { step == .minute ? "minute" : "hour" }
}
