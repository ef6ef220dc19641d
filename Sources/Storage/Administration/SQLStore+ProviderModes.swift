package import Accounts
package import Administration
internal import Foundation
internal import Postgres
internal import ProviderKit

extension SQLStore: ProviderModeStore {
    private static let selectModes = Statement(
        .read, "SELECT provider, kind, mode FROM provider_modes WHERE application_id = $1 ORDER BY provider")

    package func servedModes(of application: Application.ID) async throws -> [ServedMode] {
        try await run(Self.selectModes, [.application(application)]).decoded { row in
            let (provider, kind, mode): (String, String, String) = (try row.next(), try row.next(), try row.next())
            return ProviderMode(rawValue: mode).map { ServedMode(provider: provider, kind: kind, mode: $0) }
        }.compactMap(\.self)
    }

    private static let insertModes = Statement(
        .write,
        """
        INSERT INTO provider_modes (application_id, provider, kind, mode)
        SELECT $1, provider, kind, mode
          FROM unnest($2::text[], $3::text[], $4::text[]) AS served (provider, kind, mode)
        ON CONFLICT DO NOTHING
        """)

    package func insert(_ modes: [ServedMode], application: Application.ID) async throws {
        let binds: [Bind] = [
            .application(application), .texts(modes.map(\.provider)), .texts(modes.map(\.kind)),
            .texts(modes.map(\.mode.rawValue)),
        ]
        try await write(Self.insertModes, binds)
    }

    private static let recordMode = Statement(
        .write,
        """
        WITH changed AS (
            UPDATE provider_modes SET mode = $4
             WHERE application_id = $1 AND provider = $2 AND mode = $3
            RETURNING provider
        )
        INSERT INTO audit_events (application_id, event, details)
        SELECT $1, 'provider.mode-changed',
               $5::jsonb || jsonb_build_object('provider', provider, 'from', $3::text, 'to', $4::text)
          FROM changed
        """)

    package func record(
        _ change: ModeChange, effect: ModeEffect, application: Application.ID
    ) async throws {
        let binds: [Bind] = [
            .application(application), .text(change.provider), .text(change.from.rawValue),
            .text(change.to.rawValue), .json(try JSONValue.object(effect.details).jsonText()),
        ]
        try await write(Self.recordMode, binds)
    }
}

extension SQLStore: ProviderActivityStore {
    private static let selectActivity = Statement(
        .read,
        """
        SELECT i.provider, max(i.last_used_at), coalesce(max(o.opened), 0),
               count(*) FILTER (
                   WHERE i.created_at > now() - interval '24 hours'
                     AND EXISTS (SELECT 1 FROM accounts a
                                  WHERE a.application_id = $1 AND a.uid = i.uid AND a.created_at = i.created_at))
          FROM identities i
          LEFT JOIN (
               SELECT n.provider, count(*) AS opened
                 FROM sessions s
                 JOIN identities n ON n.application_id = $1 AND n.id = s.identity_id
                WHERE s.application_id = $1 AND s.created_at > now() - interval '24 hours' AND s.kind <> 'client'
                GROUP BY n.provider) AS o ON o.provider = i.provider
         WHERE i.application_id = $1
         GROUP BY i.provider
        """)

    package func activity(application: Application.ID) async throws -> [String: ProviderActivity] {
        let rows = try await run(Self.selectActivity, [.application(application)]).decoded { row in
            let provider: String = try row.next()
            let (lastUse, signIns, signUps): (Date?, Int, Int) = (try row.next(), try row.next(), try row.next())
            return (provider, ProviderActivity(lastUse: lastUse, signIns: signIns, signUps: signUps))
        }
        return Dictionary(rows) { first, _ in first }
    }
}
