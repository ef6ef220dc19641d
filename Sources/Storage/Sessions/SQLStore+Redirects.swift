package import Accounts
package import Foundation
internal import Postgres
package import ProviderKit

extension SQLStore: FlowCodeStore, RedirectFlowStore {
    private static let beginFlow = Statement(
        .write,
        """
        INSERT INTO redirect_flows
               (application_id, state_hash, provider, redirect_uri, app_state, code_challenge, browser_hash, expires_at,
                linking_session, is_fresh, is_short)
        VALUES ($1, $2, $3, $4, $5, $6, $7, now() + $8::interval, $9, $10, $11)
        """)

    package func begin(_ flow: NewRedirectFlow, application: Application.ID) async throws {
        try await write(
            Self.beginFlow,
            [
                .application(application), .bytes(flow.state.hash), .text(flow.provider),
                .text(flow.destination.redirectURI), .text(flow.destination.appState),
                .text(flow.destination.codeChallenge), .bytes(flow.browser?.hash), .interval(flow.lifetime),
                .uuid(flow.linkingSession), .bool(flow.isFresh),
                .bool(flow.destination.opensShortSession),
            ])
    }

    private static let answerFlow = Statement(
        .write,
        """
        UPDATE redirect_flows SET answered_at = now()
         WHERE application_id = $1 AND state_hash = $2 AND provider = $3
           AND (browser_hash IS NULL OR browser_hash = $4)
           AND answered_at IS NULL AND expires_at > now()
        RETURNING redirect_uri, app_state, code_challenge, is_short, created_at, is_fresh
        """)

    package func answer(
        state: [UInt8], provider: String, browser: [UInt8]?, application: Application.ID
    ) async throws -> AnsweredFlow? {
        let binds: [Bind] = [.application(application), .bytes(state), .text(provider), .bytes(browser)]
        guard var row = try await run(Self.answerFlow, binds).first else { return nil }
        return AnsweredFlow(destination: try row.nextDestination(), beganAt: try row.next(), isFresh: try row.next())
    }

    private static let issueCode = Statement(
        .write,
        """
        UPDATE redirect_flows SET code_hash = $3, sealed_evidence = $4, expires_at = now() + $5::interval, marks = $6
         WHERE application_id = $1 AND state_hash = $2 AND answered_at IS NOT NULL AND code_hash IS NULL
        """)

    package func issueCode(
        _ code: OpaqueToken, for evidence: VerifiedIdentity, from provider: String, state: [UInt8], lifetime: Duration,
        application: Application.ID
    ) async throws {
        try await issueCode(
            code, for: evidence,
            marks: [sealing.mark(of: evidence.providerUid, at: provider)]
                + evidence.addresses.map { sealing.mark(of: $0.address.value) },
            state: state, lifetime: lifetime, application: application)
    }

    func issueCode(
        _ code: OpaqueToken, for content: some Encodable, marks: [[UInt8]], state: [UInt8], lifetime: Duration,
        application: Application.ID
    ) async throws {
        let sealed = try sealing.seal(json: content, at: .evidence(application: application, state: state))
        let rows = try await run(
            Self.issueCode,
            [
                .application(application), .bytes(state), .bytes(code.hash), .bytes(sealed), .interval(lifetime),
                .bytesArray(marks),
            ])
        guard rows.affected == 1 else { throw StoreConflict() }
    }

    /// A code that was used is found for every use, so that its late replay ends the session that it opened.
    ///
    /// `session_id` is the browser's session that the evidence is from until the code is used, then the opened session.
    private static let redeem = Statement(
        .write, earlierSessions,
        """
        , flow AS MATERIALIZED (
            SELECT state_hash, provider, redirect_uri, app_state, code_challenge, is_short, sealed_evidence,
                   redeemed_at, session_id, expires_at > now() AS is_live
              FROM redirect_flows
             WHERE application_id = $1 AND code_hash = $4
               AND (redeemed_at IS NOT NULL
                    OR (linking_session IS NOT NULL OR NOT $5)
                       AND (linking_session IS NULL OR linking_session = $2
                            OR linking_session IN (SELECT id FROM earlier))
                       AND (is_fresh OR NOT $6))
               FOR UPDATE
        ), redeemed AS (
            UPDATE redirect_flows r SET redeemed_at = now(), sealed_evidence = NULL, marks = NULL, session_id = NULL
              FROM flow
             WHERE r.application_id = $1 AND r.state_hash = flow.state_hash
               AND flow.redeemed_at IS NULL AND flow.is_live
               AND (flow.session_id IS NULL
                    OR EXISTS (SELECT 1 FROM sessions b
                                WHERE b.application_id = $1 AND b.id = flow.session_id AND b.ended_at IS NULL
                                  AND b.expires_at > now() AND (b.idle IS NULL OR b.last_used_at > now() - b.idle)))
            RETURNING r.state_hash
        )
        SELECT EXISTS (SELECT 1 FROM redeemed), coalesce(flow.redeemed_at < now() - $3::interval, false),
               s.id, s.uid, s.is_borrowed, flow.redirect_uri, flow.app_state, flow.code_challenge, flow.is_short,
               flow.provider, flow.sealed_evidence, flow.state_hash
          FROM flow LEFT JOIN sessions s ON s.application_id = $1 AND s.id = flow.session_id
        """)

    package func redeem(
        code: [UInt8], for use: FlowUse, tolerance: Duration, application: Application.ID
    ) async throws -> CodePresentation {
        let mustLink = if case .link = use { true } else { false }
        let mustBeFresh = if case .reauthentication = use { true } else { false }
        let binds: [Bind] = [
            .application(application), .uuid(use.session), .interval(tolerance), .bytes(code), .bool(mustLink),
            .bool(mustBeFresh),
        ]
        guard var row = try await run(Self.redeem, binds).first else { return .refused }
        let isRedeemed: Bool = try row.next()
        let isLateReplay: Bool = try row.next()
        let session: UUID? = try row.next()
        let uid: UUID? = try row.next()
        let isBorrowed: Bool? = try row.next()
        guard isRedeemed else {
            guard isLateReplay, let session, let uid else { return .refused }
            return .replayed(session: session, of: uid)
        }
        let destination = try row.nextDestination()
        let provider: String = try row.next()
        let sealed: [UInt8] = try row.next()
        let state: [UInt8] = try row.next()
        return .redeemed(
            RedeemedFlow(
                provider: provider, destination: destination,
                evidence: try sealing.open(json: sealed, at: .evidence(application: application, state: state)),
                source: session.flatMap { session in
                    uid.map { RedeemedFlow.Source(session: session, uid: $0, isBorrowed: isBorrowed ?? false) }
                }))
    }

    private static let noteSession = Statement(
        .write, "UPDATE redirect_flows SET session_id = $3 WHERE application_id = $1 AND code_hash = $2")

    package func note(session: UUID, openedBy code: [UInt8], application: Application.ID) async throws {
        try await write(Self.noteSession, [.application(application), .bytes(code), .uuid(session)])
    }
}

extension Sealing {
    /// The mark (a keyed hash) of a provider's subject.
    ///
    /// No address contains a line break, so the marked text differs from every address.
    func mark(of providerUid: String, at provider: String) -> [UInt8] {
        mark(of: provider + "\n" + providerUid)
    }
}

extension SealingPlace {
    static func evidence(application: Application.ID, state: [UInt8]) -> SealingPlace {
        SealingPlace(
            application: application, table: "redirect_flows", column: "sealed_evidence",
            row: Data(state).base64EncodedString())
    }
}

extension Row {
    /// The next four columns, `redirect_uri`, `app_state`, `code_challenge` and `is_short`.
    fileprivate mutating func nextDestination() throws -> FlowDestination {
        FlowDestination(
            redirectURI: try next(), appState: try next(), codeChallenge: try next(), opensShortSession: try next())
    }
}
