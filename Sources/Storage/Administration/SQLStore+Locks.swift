package import Accounts
package import Administration
package import Foundation
internal import Postgres
package import ProviderKit

extension SQLStore: LockStore {
    private static let selectOwner = Statement(
        .read, "SELECT uid FROM addresses WHERE application_id = $1 AND kind = $2 AND address = $3")

    package func owner(of address: Address, application: Application.ID) async throws -> UUID? {
        let binds: [Bind] = [.application(application), .text(address.kind.rawValue), .text(address.value)]
        return try await run(Self.selectOwner, binds).decoded { try $0.next(UUID.self) }.first
    }

    private static let selectFailureLocks = Statement(
        .read,
        """
        SELECT k.name, f.locked_until
          FROM unnest($2::text[], $3::bytea[]) AS k (name, subject)
          JOIN password_failures f ON f.application_id = $1 AND f.subject = k.subject
         WHERE f.locked_until > now()
         ORDER BY k.name
        """)

    private static let selectGuessLock = Statement(
        .read, "SELECT", codeLock, ", g.since + interval '24 hours'",
        """
          FROM code_guesses g
         WHERE g.application_id = $1 AND g.subject = $2 AND g.since > now() - interval '24 hours' AND
        """, codeElsewhereLock)

    /// A row has the time at which the whole limit is restored; the first call is, by `reserve` microseconds earlier.
    private static let selectRateLocks = Statement(
        .read,
        """
        SELECT k.position, r.full_at - k.reserve * interval '1 microsecond'
          FROM unnest($2::text[], $3::bytea[], $4::bigint[], $5::bigint[]) AS k (name, subject, reserve, position)
          JOIN rate_limits r ON r.application_id = $1 AND r.name = k.name AND r.subject = k.subject
         WHERE r.full_at - k.reserve * interval '1 microsecond' > clock_timestamp()
         ORDER BY k.position
        """)

    package func locks(
        _ keys: LockKeys, of kind: Address.Kind?, application: Application.ID
    ) async throws -> [SubjectLock] {
        let id = Bind.application(application)
        let answers = try await run([
            (
                Self.selectFailureLocks,
                [id, .texts(keys.attempts.map { $0.provider ?? "" }), .bytesArray(keys.attempts.map(\.key.bytes))]
            ),
            (Self.selectGuessLock, [id, .bytes(keys.guesses ?? [])]),
            (
                Self.selectRateLocks,
                [
                    id, .texts(keys.rates.map(\.name)), .bytesArray(keys.rates.map(\.subject)),
                    .ints(keys.rates.map(\.reserve)), .ints(Array(keys.rates.indices)),
                ]
            ),
        ])
        var locks = try answers[0].decoded { row in
            let (provider, until): (String, Date) = (try row.next(), try row.next())
            return SubjectLock(
                kind: provider.isEmpty ? .pin : .password, name: provider.isEmpty ? "pin" : provider, until: until)
        }
        locks += try answers[1].decoded { row in
            SubjectLock(
                kind: try row.next() ? .code : .codeElsewhere, name: kind?.rawValue ?? "", until: try row.next())
        }
        locks += try answers[2].decoded { row in
            let (position, until): (Int, Date) = (try row.next(), try row.next())
            guard keys.rates.indices.contains(position) else { throw StoreConflict() }
            let key = keys.rates[position]
            return SubjectLock(kind: key.isOfBlock ? .networkRate : .rate, name: key.limit.rawValue, until: until)
        }
        return locks
    }

    private static let removeLocks = Statement(
        .write,
        """
        WITH failures AS (
            DELETE FROM password_failures WHERE application_id = $1 AND subject = ANY ($2) RETURNING 1
        ), guesses AS (
            DELETE FROM code_guesses g
             WHERE g.application_id = $1 AND g.subject = $3 AND
        """, codeElsewhereLock,
        """
            RETURNING 1
        ), limits AS (
            DELETE FROM rate_limits r USING unnest($4::text[], $5::bytea[]) AS k (name, subject)
             WHERE r.application_id = $1 AND r.name = k.name AND r.subject = k.subject
            RETURNING 1
        ), lifted AS (
            SELECT (SELECT count(*) FROM failures) AS failures, (SELECT count(*) FROM guesses) AS guesses,
                   (SELECT count(*) FROM limits) AS limits
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, details)
            SELECT $1, 'limits.lifted',
                   (SELECT sha256(a.audit_key || uuid_send(a.uid)) FROM accounts a
                     WHERE a.application_id = $1 AND a.uid = $6),
                   $7::jsonb || jsonb_build_object('failures', failures, 'codes', guesses, 'rates', limits)
              FROM lifted
             WHERE failures + guesses + limits > 0
        )
        SELECT failures + guesses + limits > 0 FROM lifted
        """)

    package func removeLocks(
        _ keys: LockKeys, of owner: UUID?, by act: AdministrativeAct, application: Application.ID
    ) async throws {
        var row = try await one(
            Self.removeLocks,
            [
                .application(application), .bytesArray(keys.attempts.map(\.key.bytes)), .bytes(keys.guesses ?? []),
                .texts(keys.rates.map(\.name)), .bytesArray(keys.rates.map(\.subject)), .uuid(owner), .act(act),
            ])
        // Replicas keep in memory who has no calls left.
        if try row.next(Bool.self) { try await notify(["limits"]) }
    }
}

extension RateKey {
    /// How long before the whole limit is restored the first call is allowed, in microseconds.
    fileprivate var reserve: Int { Int((rate.window - rate.interval) / .microseconds(1)) }
}
