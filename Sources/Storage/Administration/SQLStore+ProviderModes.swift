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
            .text(change.to.rawValue), try .object(effect.details),
        ]
        try await write(Self.recordMode, binds)
    }
}
