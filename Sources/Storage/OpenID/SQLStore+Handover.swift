package import Accounts
package import Foundation
internal import OpenID
internal import Postgres
internal import ProviderKit

/// Codes of the REST interface for sign-ins at the pages.
extension SQLStore {
    private static let openingIdentity = Statement(
        .read,
        """
        SELECT i.provider, i.provider_uid, s.methods, s.authenticated_at
          FROM sessions s JOIN identities i ON i.application_id = $1 AND i.id = s.identity_id
         WHERE s.application_id = $1 AND s.id = $2
        """)

    /// The flow's session is the browser's until the code is redeemed, and must be live then.
    ///
    /// A request ends as in `storeCode`.
    private static let storeHandover = Statement(
        .write,
        """
        WITH live AS MATERIALIZED (
            SELECT id FROM sessions
             WHERE application_id = $1 AND id = $2 AND kind = 'browser' AND ended_at IS NULL AND expires_at > now()
               AND (idle IS NULL OR last_used_at > now() - idle)
        ), finished AS (
            UPDATE authorization_requests SET expires_at = now() - interval '1 minute'
             WHERE application_id = $1 AND hash = $3 AND expires_at > now() AND EXISTS (SELECT 1 FROM live)
            RETURNING hash
        )
        INSERT INTO redirect_flows
               (application_id, state_hash, provider, redirect_uri, app_state, code_challenge, expires_at, answered_at,
                code_hash, sealed_evidence, marks, session_id, is_short)
        SELECT $1, $4, $5, $6, $7, $8, now() + $9::interval, now(), $10, $11, $12, live.id, $13
          FROM live
         WHERE $3 = ''::bytea OR EXISTS (SELECT 1 FROM finished)
        """)

    package func store(
        _ handover: NewHandover, of session: UUID, finishing request: [UInt8]?, application: Application.ID
    ) async throws -> Bool {
        let read = try await run(Self.openingIdentity, [.application(application), .uuid(session)]).first
        guard var row = read else { return false }
        let provider: String = try row.next()
        let evidence = VerifiedIdentity(
            providerUid: try row.next(), methods: try row.next(), authenticatedAt: try row.next())
        let (state, destination) = (handover.state.hash, handover.destination)
        let sealed = try sealing.seal(json: evidence, at: .evidence(application: application, state: state))
        let binds: [Bind] = [
            .application(application), .uuid(session), .bytes(request ?? []), .bytes(state), .text(provider),
            .text(destination.redirectURI), .text(destination.appState), .text(destination.codeChallenge),
            .interval(handover.lifetime), .bytes(handover.code.hash), .bytes(sealed),
            .bytesArray([sealing.mark(of: evidence.providerUid, at: provider)]),
            .bool(destination.opensShortSession),
        ]
        return try await run(Self.storeHandover, binds).affected == 1
    }
}
