package import Accounts
package import Foundation
package import OpenID
internal import Postgres
internal import ProviderKit

/// A phone's answers to sign-ins by a code.
extension SQLStore {
    /// The session `$3` of the account `$4`, if it may answer codes, and the code `$2`.
    static let scannedCode: StaticString = """
        WITH scanner AS MATERIALIZED (
            SELECT s.id, s.uid FROM sessions s JOIN accounts a ON a.application_id = $1 AND a.uid = s.uid
             WHERE s.application_id = $1 AND s.id = $3 AND s.uid = $4 AND s.ended_at IS NULL AND s.expires_at > now()
               AND NOT s.is_borrowed AND a.deleted_at IS NULL AND a.disabled_at IS NULL AND a.absorbed_by IS NULL
               AND NOT EXISTS (SELECT 1 FROM identities i
                                WHERE i.application_id = $1 AND i.id = s.identity_id AND i.is_guest)
        ), code AS MATERIALIZED (
            SELECT h.hash, h.request_hash, h.state, h.uid, h.session_id, h.number, h.is_shown, h.client_id, h.issuer,
                   h.sealed, h.expires_at,
                   h.expires_at > now() AND EXISTS (
                       SELECT 1 FROM authorization_requests r
                        WHERE r.application_id = $1 AND r.hash = h.request_hash AND r.expires_at > now()) AS is_open
              FROM handoffs h
             WHERE h.application_id = $1 AND h.hash = $2 AND h.kind = 'qr'
        )
        """

    /// The columns of `Row.nextQRCode`, with those that a statement has `changed`.
    static let foundCode: StaticString = """
        SELECT code.request_hash, code.state, code.is_open, coalesce(code.uid = scanner.uid, true),
               coalesce(code.session_id = scanner.id, true), coalesce(changed.number, code.number),
               coalesce(changed.is_shown, code.is_shown), code.client_id, code.issuer, code.sealed,
               coalesce(changed.expires_at, code.expires_at), changed.number IS NOT NULL
          FROM scanner LEFT JOIN code ON true LEFT JOIN changed ON true
        """

    private static let lookAtQRCode = Statement(
        .write, scannedCode,
        """
        , changed AS (
            UPDATE handoffs h
               SET state = 'scanned', uid = scanner.uid, session_id = scanner.id, number = $5, is_shown = $6,
                   expires_at = greatest(h.expires_at, clock.later)
              FROM scanner, (SELECT now() AS now, now() + interval '60 seconds' AS later) AS clock
             WHERE h.application_id = $1 AND h.hash = $2 AND h.kind = 'qr' AND h.state = 'waiting'
               AND h.expires_at > clock.now AND EXISTS (SELECT 1 FROM code WHERE is_open)
            RETURNING h.number, h.is_shown, h.expires_at
        )
        """, foundCode)

    package func lookAtQRCode(
        _ hash: [UInt8], by session: UUID, of uid: UUID, number: Int, isShown: Bool, application: Application.ID
    ) async throws -> QRCodeReading {
        let binds: [Bind] = [
            .application(application), .bytes(hash), .uuid(session), .uuid(uid), .int(number), .bool(isShown),
        ]
        return try await run(Self.lookAtQRCode, binds).qrCode(hash, application: application, by: sealing)
    }

    /// `$5` is whether the answer is a confirmation, `$6` whether `$7` must be the number.
    ///
    /// A confirmation without a number changes only a code whose number the app has shown.
    private static let answerQRCode = Statement(
        .write, scannedCode,
        """
        , changed AS (
            UPDATE handoffs h
               SET state = CASE WHEN $5 AND (NOT $6 OR h.number = $7) THEN 'confirmed' ELSE 'refused' END,
                   expires_at = clock.later
              FROM scanner, (SELECT now() AS now, now() + interval '60 seconds' AS later) AS clock
             WHERE h.application_id = $1 AND h.hash = $2 AND h.kind = 'qr' AND h.state = 'scanned'
               AND h.session_id = scanner.id AND h.expires_at > clock.now AND EXISTS (SELECT 1 FROM code WHERE is_open)
               AND ($6 OR h.is_shown OR NOT $5)
            RETURNING h.number, h.is_shown, h.expires_at
        )
        """, foundCode)

    package func answerQRCode(
        _ hash: [UInt8], with answer: QRAnswer, by session: UUID, of uid: UUID, application: Application.ID
    ) async throws -> QRCodeReading {
        var (isConfirmed, number) = (false, Int?.none)
        if case .confirm(let typed) = answer { (isConfirmed, number) = (true, typed) }
        let binds: [Bind] = [
            .application(application), .bytes(hash), .uuid(session), .uuid(uid), .bool(isConfirmed),
            .bool(number != nil), .int(number ?? 0),
        ]
        return try await run(Self.answerQRCode, binds).qrCode(hash, application: application, by: sealing)
    }
}

extension Rows {
    /// What a statement that ends with `foundCode` has found.
    fileprivate func qrCode(
        _ hash: [UInt8], application: Application.ID, by sealing: any Sealing
    ) throws -> QRCodeReading {
        guard var row = first else { return .refusedCaller }
        guard let request = try row.next([UInt8]?.self) else { return .unknown }
        let state = try row.nextHandoffState()
        let (isOfAccount, isOfSession): (Bool, Bool) = (try row.next(), try row.next())
        let (number, isNumberShown): (Int?, Bool) = (try row.next(), try row.next())
        let (client, issuer): (String, String) = (try row.next(), try row.next())
        return .found(
            FoundQRCode(
                request: request, state: state, isOfAccount: isOfAccount, isOfSession: isOfSession, number: number,
                isNumberShown: isNumberShown, clientID: client, issuer: issuer,
                requester: try sealing.open(json: row.next(), at: .handoff(hash, application: application)),
                expiresAt: try row.next(), isChanged: try row.next()))
    }
}
