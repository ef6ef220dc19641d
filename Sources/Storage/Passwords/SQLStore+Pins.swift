package import Accounts
package import Foundation
internal import Postgres

extension SQLStore: PinStore, ElevationStore {
    private static let selectPinState = Statement(
        .read,
        """
        SELECT p.uid IS NOT NULL, coalesce(p.wrong_in_all >= 20, false),
               extract(epoch FROM f.locked_until - now())::float8,
               CASE WHEN s.elevated_until > now() THEN s.elevated_until END, s.expires_at,
               EXISTS (SELECT 1 FROM identities i
                         JOIN passwords h ON h.application_id = $1 AND h.identity_id = i.id
                        WHERE i.application_id = $1 AND i.uid = $2)
          FROM sessions s
          LEFT JOIN pins p ON p.application_id = $1 AND p.uid = s.uid
          LEFT JOIN password_failures f
                 ON f.application_id = $1 AND f.subject = $4 AND f.locked_until > now()
         WHERE s.application_id = $1 AND s.id = $3 AND s.uid = $2 AND s.ended_at IS NULL
        """)

    package func pinState(of owner: PinOwner) async throws -> PinState? {
        guard var row = try await run(Self.selectPinState, owner.binds).first else { return nil }
        return PinState(
            exists: try row.next(), isVoid: try row.next(),
            lockedFor: try row.next(Double?.self).map { .seconds($0.rounded(.up)) }, elevatedUntil: try row.next(),
            sessionExpiresAt: try row.next(), hasPassword: try row.next())
    }

    /// Locks the account first, as all statements that change both counters.
    ///
    /// The counter of tries in a row decides, because an upsert sees its latest row; `counted` only adds to the other
    /// one what the first has admitted.
    private static let takePinTry = Statement(
        .write,
        """
        WITH account AS MATERIALIZED (
            SELECT uid FROM accounts WHERE application_id = $1 AND uid = $2 FOR NO KEY UPDATE
        ), taken AS (
            INSERT INTO password_failures AS f (application_id, subject, failures)
            SELECT $1, $3, 1 FROM account
             WHERE EXISTS (SELECT 1 FROM pins WHERE application_id = $1 AND uid = $2 AND wrong_in_all < 20)
            ON CONFLICT (application_id, subject) DO UPDATE
               SET failures = least(f.failures + 1, 1000), failed_at = excluded.failed_at,
                   locked_until = CASE WHEN f.failures + 1 >= 5
                       THEN (excluded.failed_at AT TIME ZONE 'UTC'
                             + least(900 * 2 ^ least(f.failures + 1 - 5, 7), 86400) * interval '1 second')
                            AT TIME ZONE 'UTC' END
             WHERE f.locked_until IS NULL OR f.locked_until <= excluded.failed_at
            RETURNING failures
        ), counted AS (
            UPDATE pins SET wrong_in_all = wrong_in_all + 1
             WHERE application_id = $1 AND uid = $2 AND wrong_in_all < 20 AND EXISTS (SELECT 1 FROM taken)
            RETURNING hash, wrong_in_all
        )
        SELECT hash, wrong_in_all FROM counted
        """)

    package func takePinTry(of owner: PinOwner) async throws -> PinTry? {
        let binds: [Bind] = [.application(owner.application), .uuid(owner.uid), .bytes(owner.attempts.bytes)]
        guard var row = try await run(Self.takePinTry, binds).first else { return nil }
        return PinTry(hash: PasswordHash(phc: try row.next()), number: try row.next())
    }

    private static let recordWrongPin = Statement(
        .write,
        """
        WITH pin AS MATERIALIZED (
            SELECT $4::int >= 20 AND EXISTS (
                       SELECT 1 FROM pins WHERE application_id = $1 AND uid = $2 AND wrong_in_all >= 20) AS is_void
        ), account AS MATERIALIZED (
            SELECT uid, audit_key FROM accounts WHERE application_id = $1 AND uid = $2
        )
        INSERT INTO audit_events (application_id, event, account, session_id, details)
        SELECT $1, event, sha256(account.audit_key || uuid_send(account.uid)),
               session_pseudonym(account.audit_key, $3), jsonb_strip_nulls(jsonb_build_object('dialect', $5::text))
          FROM account, pin,
               unnest(CASE WHEN pin.is_void THEN ARRAY['pin.wrong', 'pin.void'] ELSE ARRAY['pin.wrong'] END) AS event
        """)

    package func recordWrongPin(_ attempt: PinTry, of owner: PinOwner) async throws {
        let binds: [Bind] = [
            .application(owner.application), .uuid(owner.uid), .uuid(owner.session), .int(attempt.number),
            .text(owner.dialect),
        ]
        try await write(Self.recordWrongPin, binds)
    }

    private static let elevate = Statement(
        .write,
        """
        WITH account AS MATERIALIZED (
            SELECT uid, audit_key FROM accounts WHERE application_id = $1 AND uid = $2 FOR NO KEY UPDATE
        ), refunded AS (
            UPDATE pins SET wrong_in_all = greatest(wrong_in_all - 1, 0)
             WHERE application_id = $1 AND uid = $2 AND hash = $5 AND EXISTS (SELECT 1 FROM account)
            RETURNING uid
        ), cleared AS (
            DELETE FROM password_failures
             WHERE application_id = $1 AND subject = $4 AND EXISTS (SELECT 1 FROM refunded)
        ), elevated AS (
            UPDATE sessions s SET elevated_until = clock.later
              FROM (SELECT now() AS now, now() + $6::interval AS later) AS clock
             WHERE s.application_id = $1 AND s.id = $3 AND s.uid = $2 AND s.ended_at IS NULL
               AND s.expires_at > clock.now AND EXISTS (SELECT 1 FROM refunded)
            RETURNING s.id
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'session.elevated', sha256(account.audit_key || uuid_send(account.uid)),
                   session_pseudonym(account.audit_key, elevated.id),
                   jsonb_strip_nulls(jsonb_build_object('dialect', $7::text))
              FROM account, elevated
        )
        SELECT 1 FROM elevated
        """)

    package func elevate(_ owner: PinOwner, by hash: PasswordHash, for duration: Duration) async throws -> Bool {
        try await run(Self.elevate, owner.binds + [.text(hash.phc), .interval(duration), .text(owner.dialect)]).count
            == 1
    }

    /// The account as `caller`, if the session of the call has not ended while a hash was computed.
    ///
    /// The session's row is locked after that of the account.
    private static let liveCaller: StaticString = """
        ), caller AS MATERIALIZED (
            SELECT uid FROM sessions
             WHERE application_id = $1 AND id = $3 AND uid = (SELECT uid FROM account) AND ended_at IS NULL
               FOR NO KEY UPDATE
        """

    /// `$6` permits replacing any PIN, `$7` a void one, `$8` the one with this hash.
    ///
    /// It locks all sessions again, not only those that it finds unlocked: it reads them before it waits for the account,
    /// and another call may unlock one meanwhile.
    private static let setPin = Statement(
        .write,
        """
        WITH account AS MATERIALIZED (
            SELECT uid, audit_key FROM accounts
             WHERE application_id = $1 AND uid = $2
               AND deleted_at IS NULL AND disabled_at IS NULL AND absorbed_by IS NULL
               FOR NO KEY UPDATE
        """, liveCaller,
        """
        ), known AS MATERIALIZED (
            SELECT uid FROM pins WHERE application_id = $1 AND uid = $2
        ), written AS (
            INSERT INTO pins AS p (application_id, uid, hash)
            SELECT $1, uid, $5 FROM caller WHERE $8::text IS NULL OR EXISTS (SELECT 1 FROM known)
            ON CONFLICT (application_id, uid) DO UPDATE
               SET hash = excluded.hash, changed_at = excluded.changed_at, wrong_in_all = 0
             WHERE $6 OR p.hash = $8 OR $7 AND p.wrong_in_all >= 20
            RETURNING uid
        ), cleared AS (
            DELETE FROM password_failures
             WHERE application_id = $1 AND subject = $4 AND EXISTS (SELECT 1 FROM written)
        ), locked AS (
            UPDATE sessions SET elevated_until = NULL
             WHERE application_id = $1 AND uid = $2 AND ended_at IS NULL AND EXISTS (SELECT 1 FROM written)
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, CASE WHEN EXISTS (SELECT 1 FROM known) THEN 'pin.changed' ELSE 'pin.set' END,
                   sha256(account.audit_key || uuid_send(account.uid)), session_pseudonym(account.audit_key, $3),
                   jsonb_strip_nulls(jsonb_build_object('dialect', $9::text))
              FROM account
             WHERE EXISTS (SELECT 1 FROM written)
        )
        SELECT 1 FROM written
        """)

    package func setPin(
        _ hash: PasswordHash, of owner: PinOwner, replacing: PinReplacement
    ) async throws -> Bool {
        var expected: PasswordHash?
        if case .of(let hash) = replacing { expected = hash }
        let binds: [Bind] = [
            .text(hash.phc), .bool(replacing == .any), .bool(replacing == .void), .text(expected?.phc),
            .text(owner.dialect),
        ]
        return try await run(Self.setPin, owner.binds + binds).count == 1
    }

    /// Locks all sessions again, for the same reason as `setPin`.
    private static let removePin = Statement(
        .write,
        """
        WITH account AS MATERIALIZED (
            SELECT uid, audit_key FROM accounts WHERE application_id = $1 AND uid = $2 FOR NO KEY UPDATE
        """, liveCaller,
        """
        ), removed AS (
            DELETE FROM pins
             WHERE application_id = $1 AND uid = $2 AND hash = coalesce($5, hash) AND EXISTS (SELECT 1 FROM caller)
            RETURNING uid
        ), cleared AS (
            DELETE FROM password_failures
             WHERE application_id = $1 AND subject = $4 AND EXISTS (SELECT 1 FROM removed)
        ), locked AS (
            UPDATE sessions SET elevated_until = NULL
             WHERE application_id = $1 AND uid = $2 AND ended_at IS NULL AND EXISTS (SELECT 1 FROM removed)
        ), audited AS (
            INSERT INTO audit_events (application_id, event, account, session_id, details)
            SELECT $1, 'pin.removed', sha256(account.audit_key || uuid_send(account.uid)),
                   session_pseudonym(account.audit_key, $3), jsonb_strip_nulls(jsonb_build_object('dialect', $6::text))
              FROM account
             WHERE EXISTS (SELECT 1 FROM removed)
        )
        SELECT 1 FROM removed
        """)

    package func removePin(_ hash: PasswordHash?, of owner: PinOwner) async throws -> Bool {
        try await run(Self.removePin, owner.binds + [.text(hash?.phc), .text(owner.dialect)]).count == 1
    }

    private static let endElevation = Statement(
        .write,
        "UPDATE sessions SET elevated_until = NULL WHERE application_id = $1 AND id = $3 AND uid = $2")

    package func endElevation(of owner: PinOwner) async throws {
        try await write(Self.endElevation, [.application(owner.application), .uuid(owner.uid), .uuid(owner.session)])
    }

    private static let endElevations = Statement(
        .write,
        """
        UPDATE sessions SET elevated_until = NULL
         WHERE application_id = $1 AND uid = $2 AND elevated_until IS NOT NULL
        """)

    package func endElevations(of uid: UUID, application: Application.ID) async throws {
        try await write(Self.endElevations, [.application(application), .uuid(uid)])
    }
}

extension PinOwner {
    /// The binds `$1` to `$4`.
    fileprivate var binds: [Bind] {
        [.application(application), .uuid(uid), .uuid(session), .bytes(attempts.bytes)]
    }
}
