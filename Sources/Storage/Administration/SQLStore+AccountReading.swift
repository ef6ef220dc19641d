package import Accounts
package import Administration
package import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: AccountReadingStore {
    private static let selectRecords = Statement(
        .read, JoinedUsers.userColumns, JoinedUsers.accessColumns,
        ", a.absorbed_by, a.disabled_at, a.disabled_until, a.deleted_at, a.purge_after FROM", JoinedUsers.users,
        "WHERE a.application_id = $1 AND a.uid = ANY ($2)")

    package func records(of uids: [UUID], application: Application.ID) async throws -> [UUID: AccountRecord] {
        guard !uids.isEmpty else { return [:] }
        let records = try await run(Self.selectRecords, [.application(application), .uuids(uids)]).decoded { row in
            AccountRecord(
                user: try row.nextUser(), absorbedBy: try row.next(), disabledAt: try row.next(),
                disabledUntil: try row.next(), deletedAt: try row.next(), purgeAfter: try row.next())
        }
        return Dictionary(records.map { ($0.user.uid, $0) }) { first, _ in first }
    }

    /// The last use of a session, or the last sign-in if its session is no longer stored.
    private static let selectLastSeen = Statement(
        .read,
        """
        SELECT greatest(
                   (SELECT max(greatest(
                               s.created_at, s.last_used_at,
                               (SELECT max(t.created_at) FROM refresh_tokens t
                                 WHERE t.application_id = $1 AND t.session_id = s.id),
                               (SELECT max(b.used_at) FROM session_bearers b
                                 WHERE b.application_id = $1 AND b.session_id = s.id)))
                      FROM sessions s
                     WHERE s.application_id = $1 AND s.uid = $2),
                   (SELECT max(greatest(i.last_used_at, i.seen_at)) FROM identities i
                     WHERE i.application_id = $1 AND i.uid = $2))
        """)

    private static let selectReceipt = Statement(
        .read,
        """
        SELECT receipt FROM erasures
         WHERE application_id = $1 AND uid = $2 AND restored_at IS NULL AND erased_at IS NULL
        """)

    private static let selectLockouts = Statement(
        .read,
        """
        SELECT c.kind, c.name, max(f.locked_until)
          FROM unnest($2::bytea[], $3::text[], $4::text[]) AS c (subject, kind, name)
          JOIN password_failures f ON f.application_id = $1 AND f.subject = c.subject
         WHERE f.locked_until > now()
         GROUP BY c.kind, c.name
         ORDER BY c.kind, c.name
        """)

    private static let selectCodeLockouts = Statement(
        .read,
        """
        SELECT 'code', d.kind, max(g.since + interval '24 hours')
          FROM addresses d
          JOIN code_guesses g
            ON g.application_id = $1 AND g.subject = sha256(convert_to(d.kind || ':' || d.address, 'UTF8'))
         WHERE d.application_id = $1 AND d.uid = $2 AND g.since > now() - interval '24 hours' AND
        """, codeLock,
        """
         GROUP BY d.kind
         ORDER BY d.kind
        """)

    /// Each part of the union uses an index; the proof of a registration is part of that.
    private static let selectPending = Statement(
        .read,
        """
        SELECT p.kind, max(p.until)
          FROM (SELECT kind, expires_at AS until FROM proofs WHERE application_id = $1 AND uid = $2
                UNION ALL
                SELECT kind, expires_at FROM proofs
                 WHERE application_id = $1 AND kind = 'address-change' AND identity_id = ANY (ARRAY(
                       SELECT id FROM identities WHERE application_id = $1 AND uid = $2))
                UNION ALL
                SELECT kind, expires_at FROM proofs
                 WHERE application_id = $1 AND address = ANY (ARRAY(
                       SELECT address FROM addresses WHERE application_id = $1 AND uid = $2))) p
         WHERE p.until > now() AND p.kind <> 'registration'
         GROUP BY p.kind
         ORDER BY p.kind
        """)

    /// A password that waits to join the account.
    private static let selectPendingRegistration = Statement(
        .read,
        """
        SELECT 'registration', max(expires_at)
          FROM registrations
         WHERE application_id = $1 AND uid = $2 AND expires_at > now()
        HAVING count(*) > 0
        """)

    package func activity(
        of uid: UUID, counters: [FailureCounter], application: Application.ID
    ) async throws -> AccountActivity {
        let account: [Bind] = [.application(application), .uuid(uid)]
        let keys: [Bind] = [
            .application(application), .bytesArray(counters.map(\.key.bytes)),
            .texts(counters.map(\.kind.rawValue)), .texts(counters.map(\.name)),
        ]
        let answers = try await run([
            (Self.selectLastSeen, account), (Self.selectReceipt, account), (Self.selectLockouts, keys),
            (Self.selectCodeLockouts, account), (Self.selectPending, account),
            (Self.selectPendingRegistration, account),
        ])
        var (seen, receipt) = (answers[0].first, answers[1].first)
        return AccountActivity(
            lastSeenAt: try seen?.next(Date?.self), receipt: try receipt?.next(),
            lockouts: try answers[2].lockouts() + answers[3].lockouts(),
            pending: try answers[4].pendingSteps() + answers[5].pendingSteps())
    }
}

extension Rows {
    fileprivate func lockouts() throws -> [AccountLockout] {
        try decoded { row in
            let kind: String = try row.next()
            return AccountLockout(
                kind: AccountLockout.Kind(rawValue: kind) ?? .password, name: try row.next(), until: try row.next())
        }
    }

    fileprivate func pendingSteps() throws -> [PendingStep] {
        try decoded { row in PendingStep(kind: try row.next(), until: try row.next()) }
    }
}
