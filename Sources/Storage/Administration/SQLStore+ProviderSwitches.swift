package import Accounts
package import Administration
package import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: ProviderSwitchStore {
    /// Uses an advisory lock without waiting, because a switch takes as long as its accounts are counted.
    private static let lockSwitches = Statement(
        .write, "SELECT pg_try_advisory_xact_lock(hashtextextended('provider switches ' || $1::int, 0))")

    package func lockSwitches(of application: Application.ID) async throws -> Bool {
        var row = try await one(Self.lockSwitches, [.application(application)])
        return try row.next()
    }

    private static let selectSwitches = Statement(
        .read,
        """
        SELECT id, provider, mode, file_mode, created_at, until, until <= now()
          FROM provider_switches
         WHERE application_id = $1 AND ended_at IS NULL
         ORDER BY provider
        """)

    package func switches(of application: Application.ID) async throws -> [ProviderSwitch] {
        try await run(Self.selectSwitches, [.application(application)]).decoded { try $0.nextSwitch() }
            .compactMap(\.self)
    }

    private static let insertSwitch = Statement(
        .write,
        """
        WITH made AS (
            INSERT INTO provider_switches (application_id, id, provider, mode, file_mode, until)
            VALUES ($1, $2, $3, $4, $5, $6)
            RETURNING id, provider, mode, file_mode, created_at, until
        ), audited AS (
            INSERT INTO audit_events (application_id, event, details)
            SELECT $1, 'provider.switched',
                   $7::jsonb
                   || jsonb_build_object(
                       'provider', provider, 'from', $8::text, 'to', mode, 'until', rfc3339(until))
              FROM made
        )
        SELECT id, provider, mode, file_mode, created_at, until, false FROM made
        """)

    package func insert(
        _ made: ProviderSwitch, from mode: ProviderMode, details effect: ModeEffect, by act: AdministrativeAct,
        application: Application.ID
    ) async throws -> ProviderSwitch {
        let details = act.details.merging(effect.details) { first, _ in first }
        let binds: [Bind] = [
            .application(application), .uuid(made.id), .text(made.provider), .text(made.mode.rawValue),
            .text(made.fileMode.rawValue), .timestamp(made.until), try .object(details), .text(mode.rawValue),
        ]
        var row = try await one(Self.insertSwitch, binds)
        guard let stored = try row.nextSwitch() else { throw StoreConflict() }
        return stored
    }

    private static let endSwitch = Statement(
        .write,
        """
        WITH ended AS (
            UPDATE provider_switches SET ended_at = now(), end_reason = $3
             WHERE application_id = $1 AND id = $2 AND ended_at IS NULL
            RETURNING id, provider, mode
        ), dropped AS (
            DELETE FROM switched_accounts
             WHERE application_id = $1 AND switch_id = $2 AND $3 <> 'adopted' AND EXISTS (SELECT 1 FROM ended)
        ), audited AS (
            INSERT INTO audit_events (application_id, event, details)
            SELECT $1, 'provider.switch-ended',
                   $4::jsonb || jsonb_build_object('provider', provider, 'mode', mode, 'because', $3::text)
              FROM ended
        )
        SELECT id FROM ended
        """)

    package func end(
        _ made: ProviderSwitch, because reason: SwitchEnd, by act: AdministrativeAct?, application: Application.ID
    ) async throws -> Bool {
        let binds: [Bind] = [
            .application(application), .uuid(made.id), .text(reason.rawValue), try .object(act?.details ?? [:]),
        ]
        return try await run(Self.endSwitch, binds).first != nil
    }

    /// `$14` is the switch; `$15` and `$16` say whether stranded accounts and those with sessions are listed.
    private static let listAccounts = Statement(
        .write, switchVerdicts,
        """
        , stranded AS MATERIALIZED (
            SELECT uid FROM verdict WHERE $15::bool AND way_now AND NOT way_after
        ), opened AS MATERIALIZED (
            SELECT DISTINCT s.uid
              FROM sessions s
              JOIN identities i ON i.application_id = $1 AND i.id = s.identity_id
             WHERE s.application_id = $1 AND s.ended_at IS NULL AND s.expires_at > now() AND i.provider = $2
               AND $16::bool
        )
        INSERT INTO switched_accounts (application_id, switch_id, uid, tells_owner, ends_sessions)
        SELECT $1, $14, c.uid, c.uid IN (SELECT uid FROM stranded), c.uid IN (SELECT uid FROM opened)
          FROM (SELECT uid FROM stranded UNION SELECT uid FROM opened) AS c
        ON CONFLICT (application_id, switch_id, uid) DO UPDATE
           SET tells_owner = switched_accounts.tells_owner OR excluded.tells_owner,
               ends_sessions = switched_accounts.ends_sessions OR excluded.ends_sessions
        """)

    package func list(
        accountsOf made: ProviderSwitch, changing change: ModeChange, telling tells: Bool, ending ends: Bool,
        application: Application.ID
    ) async throws {
        let binds = Self.verdictBinds(change, admins: [], application: application)
        _ = try await run(Self.listAccounts, binds + [.uuid(made.id), .bool(tells), .bool(ends)])
    }

    private static let handOver = Statement(
        .write,
        """
        WITH moved AS (
            UPDATE switched_accounts SET switch_id = $3 WHERE application_id = $1 AND switch_id = $2
        )
        SELECT sessions_listed_at IS NOT NULL FROM provider_switches WHERE application_id = $1 AND id = $2
        """)

    package func handOver(
        from last: ProviderSwitch, to next: ProviderSwitch, application: Application.ID
    ) async throws -> Bool {
        var row = try await one(Self.handOver, [.application(application), .uuid(last.id), .uuid(next.id)])
        return try row.next()
    }

    private static let listSessionsLater = Statement(
        .write,
        """
        UPDATE provider_switches SET sessions_listed_at = now() + $3::interval
         WHERE application_id = $1 AND id = $2
        """)

    package func listSessions(
        endedBy made: ProviderSwitch, after pause: Duration, application: Application.ID
    ) async throws {
        try await write(Self.listSessionsLater, [.application(application), .uuid(made.id), .interval(pause)])
    }

    private static let selectDueSwitches = Statement(
        .read,
        """
        SELECT id FROM provider_switches
         WHERE application_id = $1 AND (ended_at IS NULL OR end_reason = 'adopted') AND sessions_listed_at <= now()
        """)

    private static let listDueSessions = Statement(
        .write,
        """
        WITH due AS (
            UPDATE provider_switches SET sessions_listed_at = NULL
             WHERE application_id = $1 AND id = $2 AND (ended_at IS NULL OR end_reason = 'adopted')
               AND sessions_listed_at IS NOT NULL
            RETURNING id, provider
        )
        INSERT INTO switched_accounts (application_id, switch_id, uid, tells_owner, ends_sessions)
        SELECT $1, c.id, c.uid, false, true
          FROM (SELECT DISTINCT d.id, s.uid
                  FROM sessions s
                  JOIN identities i ON i.application_id = $1 AND i.id = s.identity_id
                  JOIN due d ON d.provider = i.provider
                 WHERE s.application_id = $1 AND s.ended_at IS NULL AND s.expires_at > now()) AS c
        ON CONFLICT (application_id, switch_id, uid) DO UPDATE SET ends_sessions = true
        """)

    package func dueListings(application: Application.ID) async throws -> [UUID] {
        try await run(Self.selectDueSwitches, [.application(application)]).decoded { try $0.next(UUID.self) }
    }

    package func listSessions(endedBy made: UUID, application: Application.ID) async throws {
        try await write(Self.listDueSessions, [.application(application), .uuid(made)])
    }

    private static let selectSwitchedAccounts = Statement(
        .read,
        """
        SELECT c.uid, c.switch_id, s.provider, CASE WHEN s.ended_at IS NULL THEN s.until END, c.tells_owner,
               c.ends_sessions
          FROM switched_accounts c
          JOIN provider_switches s ON s.application_id = $1 AND s.id = c.switch_id
         WHERE c.application_id = $1
         LIMIT $2
        """)

    package func switchedAccounts(limit: Int, application: Application.ID) async throws -> [SwitchedAccount] {
        try await run(Self.selectSwitchedAccounts, [.application(application), .int(limit)]).decoded { row in
            SwitchedAccount(
                uid: try row.next(), switchID: try row.next(), provider: try row.next(), until: try row.next(),
                tellsOwner: try row.next(), endsSessions: try row.next())
        }
    }

    private static let removeSwitchedAccount = Statement(
        .write,
        """
        WITH removed AS (
            DELETE FROM switched_accounts WHERE application_id = $1 AND switch_id = $2 AND uid = $3
            RETURNING switch_id, tells_owner, ends_sessions
        )
        SELECT r.tells_owner, r.ends_sessions
          FROM removed r
          JOIN provider_switches s ON s.application_id = $1 AND s.id = r.switch_id
           AND (s.ended_at IS NULL OR s.end_reason = 'adopted')
        """)

    /// The row may have been listed for its sessions, too, since `account` was read, and the switch may have ended.
    package func remove(_ account: SwitchedAccount, application: Application.ID) async throws -> SwitchedAccount? {
        let binds: [Bind] = [.application(application), .uuid(account.switchID), .uuid(account.uid)]
        guard var row = try await run(Self.removeSwitchedAccount, binds).first else { return nil }
        var current = account
        (current.tellsOwner, current.endsSessions) = (try row.next(), try row.next())
        return current
    }

    package func announceSwitches() async throws { try await notify([ReplicaChannel.switches]) }
}

extension Row {
    /// The next switch; `nil` if another version has stored a mode that this one does not have.
    mutating func nextSwitch() throws -> ProviderSwitch? {
        let (id, provider, mode, fileMode): (UUID, String, String, String) = (
            try next(), try next(), try next(), try next()
        )
        let (since, until, isOver): (Date, Date, Bool) = (try next(), try next(), try next())
        guard let mode = ProviderMode(rawValue: mode), let fileMode = ProviderMode(rawValue: fileMode) else {
            return nil
        }
        return ProviderSwitch(
            id: id, provider: provider, mode: mode, fileMode: fileMode, since: since, until: until,
            isOver: isOver)
    }
}
