package import Accounts
package import Foundation
package import OpenID
internal import Postgres
internal import ProviderKit

/// Sign-ins by a code that a phone confirms.
extension SQLStore: QRCodeStore {
    // MARK: - The page

    /// The former codes' end is set back, so that they are over also for a call that began earlier and waits for it.
    private static let storeQRCode = Statement(
        .write,
        """
        WITH former AS (
            UPDATE handoffs SET expires_at = now() - interval '1 minute'
             WHERE application_id = $1 AND request_hash = $3 AND expires_at > now()
        )
        INSERT INTO handoffs
               (application_id, hash, kind, id, client_id, issuer, request_hash, sealed, expires_at)
        VALUES ($1, $2, 'qr', $4, $5, $6, $3, $7, now() + $8::interval)
        """)

    package func store(_ code: NewQRCode, for lifetime: Duration, application: Application.ID) async throws {
        let sealed = try sealing.seal(json: code.requester, at: .handoff(code.hash, application: application))
        try await write(
            Self.storeQRCode,
            [
                .application(application), .bytes(code.hash), .bytes(code.request), .uuid(.v8(of: code.request)),
                .text(code.clientID), .text(code.issuer), .bytes(sealed), .interval(lifetime),
            ])
    }

    /// The account is named only to the browser whose code it has confirmed.
    private static let shownQRCode = Statement(
        .read,
        """
        SELECT h.state, h.expires_at > now(), h.number, h.is_shown,
               (extract(epoch FROM h.expires_at - now()) * 1000000)::bigint,
               CASE WHEN h.state = 'confirmed' THEN h.uid END,
               CASE WHEN h.state = 'confirmed'
                    THEN (SELECT a.display_name FROM accounts a WHERE a.application_id = $1 AND a.uid = h.uid) END,
               CASE WHEN h.state = 'confirmed'
                    THEN (SELECT d.address FROM addresses d
                           WHERE d.application_id = $1 AND d.uid = h.uid
                           ORDER BY d.kind, d.verified_at, d.address LIMIT 1) END
          FROM authorization_requests r JOIN handoffs h ON h.application_id = $1 AND h.request_hash = r.hash
         WHERE r.application_id = $1 AND r.hash = $2 AND r.browser_hash = $3 AND r.expires_at > now()
         ORDER BY h.created_at DESC, h.hash
         LIMIT 1
        """)

    package func qrCode(
        of request: [UInt8], browser: [UInt8], application: Application.ID
    ) async throws -> ShownQRCode? {
        let binds: [Bind] = [.application(application), .bytes(request), .bytes(browser)]
        guard var row = try await run(Self.shownQRCode, binds).first else { return nil }
        var code = ShownQRCode(
            state: try row.nextHandoffState(), number: try row.next(), isNumberShown: try row.next(),
            remaining: .microseconds(max(0, try row.next(Int.self))))
        (code.account, code.name, code.address) = (try row.next(), try row.next(), try row.next())
        return code
    }

    private static let endQRCodes = Statement(
        .write,
        """
        UPDATE handoffs SET expires_at = now() - interval '1 minute'
         WHERE application_id = $1 AND request_hash = $2 AND expires_at > now()
        """)

    package func endQRCodes(of request: [UInt8], application: Application.ID) async throws {
        try await write(Self.endQRCodes, [.application(application), .bytes(request)])
    }

    // MARK: - The end

    private static let takeQRCode = Statement(
        .write,
        """
        UPDATE handoffs SET state = 'used'
         WHERE application_id = $1 AND hash = $2 AND request_hash = $3 AND kind = 'qr' AND state = 'confirmed'
           AND expires_at > now()
        RETURNING session_id, uid
        """)

    package func takeQRCode(
        _ hash: [UInt8], of request: [UInt8], application: Application.ID
    ) async throws -> (session: UUID, uid: UUID)? {
        let binds: [Bind] = [.application(application), .bytes(hash), .bytes(request)]
        guard var row = try await run(Self.takeQRCode, binds).first else { return nil }
        return (try row.next(), try row.next())
    }

    private static let selectOpener = Statement(
        .read,
        """
        SELECT i.id, i.uid, i.quarantined_at IS NOT NULL, i.provider, i.provider_uid
          FROM sessions s JOIN identities i ON i.application_id = $1 AND i.id = s.identity_id
         WHERE s.application_id = $1 AND s.id = $2 AND s.uid = $3 AND i.uid = $3 AND s.ended_at IS NULL
           AND s.expires_at > now() AND NOT s.is_borrowed AND NOT i.is_guest
        """)

    package func qrCodeOpener(
        session: UUID, of uid: UUID, application: Application.ID
    ) async throws -> QRCodeOpener? {
        let binds: [Bind] = [.application(application), .uuid(session), .uuid(uid)]
        guard var row = try await run(Self.selectOpener, binds).first else { return nil }
        let identity = KnownIdentity(
            id: try row.next(), uid: try row.next(), status: .live, isQuarantined: try row.next())
        return QRCodeOpener(identity: identity, provider: try row.next(), providerUid: try row.next())
    }

    package func announceHandoff(_ id: UUID, application: Application.ID) async throws {
        try await notify([ReplicaChannel.payload(ofHandoff: id, application: application)])
    }

    private static let selectPrincipal = Statement(
        .read,
        """
        SELECT s.uid, floor(extract(epoch FROM s.authenticated_at))::bigint, i.provider, i.provider_uid
          FROM sessions s JOIN identities i ON i.application_id = $1 AND i.id = s.identity_id
         WHERE s.application_id = $1 AND s.id = $2 AND s.client_id = $3 AND s.ended_at IS NULL AND s.expires_at > now()
        """)

    package func principal(
        ofClientSession session: UUID, client: String, in application: Application
    ) async throws -> Principal? {
        let binds: [Bind] = [.application(application.id), .uuid(session), .text(client)]
        guard var row = try await run(Self.selectPrincipal, binds).first else { return nil }
        return Principal(
            application: application, uid: try row.next(), sessionID: session, authenticatedAt: try row.next(),
            provider: try row.next(), providerUid: try row.next())
    }
}

extension SealingPlace {
    /// The device that asks for a sign-in, sealed.
    static func handoff(_ hash: [UInt8], application: Application.ID) -> SealingPlace {
        SealingPlace(
            application: application, table: "handoffs", column: "sealed", row: Data(hash).base64EncodedString())
    }
}

extension Row {
    /// The columns `state` and whether the sign-in has not expired.
    mutating func nextHandoffState() throws -> HandoffState {
        let state = HandoffState(rawValue: try next()) ?? .expired
        let isOpen: Bool = try next()
        return isOpen || [.refused, .used].contains(state) ? state : .expired
    }
}
