package import Accounts
internal import Foundation
package import OpenID
internal import Postgres
internal import ProviderKit

/// What the pages of an authorization request read and write.
extension SQLStore {
    /// Reads a request and the accounts of its browser.
    static let selectBrowserRequest = Statement(
        .read,
        """
        WITH request AS MATERIALIZED (
            SELECT issuer, sealed, client_id, expires_at > now() AS is_open FROM authorization_requests
             WHERE application_id = $1 AND hash = $3 AND browser_hash = $4
        ), browser AS MATERIALIZED (
        """, accountSessions, absorbed, ofBrowser,
        """
               AND EXISTS (SELECT 1 FROM request)
        )
        SELECT request.is_open, request.issuer, request.sealed, b.id, b.uid,
        """, age, browserColumns,
        """
               , (SELECT g.scopes || g.resources FROM consents g
                   WHERE g.application_id = $1 AND g.uid = b.uid AND g.client_id = request.client_id)
          FROM request LEFT JOIN browser b ON true
         ORDER BY b.created_at, b.id
        """)

    package func browserRequest(
        _ request: [UInt8], browser: [UInt8], sessions: [UInt8]?, application: Application.ID
    ) async throws -> BrowserRequest? {
        let rows = try await run(
            Self.selectBrowserRequest, [.application(application), .bytes(sessions), .bytes(request), .bytes(browser)])
        guard var first = rows.first else { return nil }
        let isOpen: Bool = try first.next()
        let stored = try first.nextRequest(request, of: browser, application: application, by: sealing)
        let accounts = try rows.decoded { row in
            _ = (try row.next(Bool.self), try row.next(String.self), try row.next([UInt8].self))
            guard var account = try row.nextBrowserAccount() else { return nil as BrowserAccount? }
            account.session.consented = Set(try row.next([String]?.self) ?? [])
            return account
        }
        return BrowserRequest(stored: stored, isOpen: isOpen, accounts: accounts.compactMap { $0 })
    }

    private static let openRequest = Statement(
        .read,
        """
        SELECT issuer, sealed FROM authorization_requests
         WHERE application_id = $1 AND hash = $2 AND expires_at > now()
        """)

    package func openRequest(_ hash: [UInt8], application: Application.ID) async throws -> StoredRequest? {
        guard var row = try await run(Self.openRequest, [.application(application), .bytes(hash)]).first else {
            return nil
        }
        return try row.nextRequest(hash, of: nil, application: application, by: sealing)
    }

    private static let newestRequest = Statement(
        .read,
        """
        SELECT hash, issuer, sealed FROM authorization_requests
         WHERE application_id = $1 AND browser_hash = $2 AND issuer = ANY($3) AND expires_at > now()
         ORDER BY created_at DESC, hash
         LIMIT 1
        """)

    package func newestRequest(
        of browser: [UInt8], at issuers: [String], application: Application.ID
    ) async throws -> String? {
        let rows = try await run(Self.newestRequest, [.application(application), .bytes(browser), .texts(issuers)])
        guard var row = rows.first else { return nil }
        return try row.nextRequest(row.next(), of: browser, application: application, by: sealing).id
    }

    private static let updateRequest = Statement(
        .write,
        """
        UPDATE authorization_requests SET sealed = $3, marks = nullif($5::bytea[], '{}')
         WHERE application_id = $1 AND hash = $2 AND sealed = $4 AND expires_at > now()
        """)

    package func update(_ request: StoredRequest, application: Application.ID) async throws -> Bool {
        let sealed = try sealed(request, application: application)
        let binds: [Bind] = [
            .application(application), .bytes(request.hash), .bytes(sealed), .bytes(request.sealed),
            marks(of: request),
        ]
        return try await run(Self.updateRequest, binds).affected == 1
    }

    /// Sets the end back as `storeCode` does.
    private static let endRequest = Statement(
        .write,
        """
        UPDATE authorization_requests
           SET expires_at = now() - interval '1 minute', sealed = $3, marks = nullif($4::bytea[], '{}')
         WHERE application_id = $1 AND hash = $2 AND expires_at > now()
        """)

    package func end(_ request: StoredRequest, application: Application.ID) async throws -> Bool {
        let sealed = try sealed(request, application: application)
        let binds: [Bind] = [.application(application), .bytes(request.hash), .bytes(sealed), marks(of: request)]
        return try await run(Self.endRequest, binds).affected == 1
    }

    /// Codes of OpenID clients, and those of the REST interface for sign-ins at the pages.
    private static let selectCode = Statement(
        .read,
        """
        SELECT 1 FROM authorization_codes c JOIN sessions s ON s.application_id = $1 AND s.id = c.session_id
         WHERE c.application_id = $1 AND c.hash = $2 AND c.redeemed_at IS NULL AND c.expires_at > now()
           AND s.browser_hash = $3 AND s.ended_at IS NULL
        UNION ALL
        SELECT 1 FROM redirect_flows f JOIN sessions s ON s.application_id = $1 AND s.id = f.session_id
         WHERE f.application_id = $1 AND f.code_hash = $2 AND f.redeemed_at IS NULL AND f.expires_at > now()
           AND s.browser_hash = $3 AND s.ended_at IS NULL
        """)

    package func hasCode(_ code: [UInt8], browser: [UInt8], application: Application.ID) async throws -> Bool {
        try await !run(Self.selectCode, [.application(application), .bytes(code), .bytes(browser)]).isEmpty
    }

    func sealed(_ request: StoredRequest, application: Application.ID) throws -> [UInt8] {
        let content = RequestContent(id: request.id, request: request.request, progress: request.progress)
        return try sealing.seal(json: content, at: .request(request.hash, application: application))
    }
}

extension SQLStore {
    /// By what an erasure finds the request.
    func marks(of request: StoredRequest) -> Bind {
        .bytesArray(request.addresses.map { sealing.mark(of: $0.value) } + request.sessions.map(\.bytes))
    }
}

/// The sealed part of a request.
private struct RequestContent: Codable {
    let id: String?
    let request: ClientRequest
    let progress: RequestProgress
}

extension SealingPlace {
    fileprivate static func request(_ hash: [UInt8], application: Application.ID) -> SealingPlace {
        SealingPlace(
            application: application, table: "authorization_requests", column: "sealed",
            row: Data(hash).base64EncodedString())
    }
}

extension Row {
    /// The columns `issuer` and `sealed` of a request.
    mutating func nextRequest(
        _ hash: [UInt8], of browser: [UInt8]?, application: Application.ID, by sealing: any Sealing
    ) throws -> StoredRequest {
        let issuer: String = try next()
        let sealed: [UInt8] = try next()
        let content: RequestContent = try sealing.open(json: sealed, at: .request(hash, application: application))
        var request = StoredRequest(hash: hash, id: content.id, issuer: issuer, request: content.request)
        (request.progress, request.browser, request.sealed) = (content.progress, browser, sealed)
        return request
    }

    /// The columns `SQLStore.browserColumns`; `nil` if the browser has no session.
    mutating func nextBrowserAccount() throws -> BrowserAccount? {
        guard let id = try next(UUID?.self) else { return nil }
        var session = BrowserSession(id: id, uid: try next(), age: try next())
        session.absorbed = try next()
        session.isGuest = try next()
        (session.isBorrowed, session.isOfApp) = (try next(), try next())
        session.needsNewPassword = try next()
        let (authenticatedAt, provider, providerUid) = (
            try next(Date.self), try next(String?.self) ?? "", try next(String?.self) ?? ""
        )
        var account = BrowserAccount(
            session: session, isLive: try next(), isRemembered: try next(), isNew: try next(), lastUsedAt: try next(),
            name: try next(), locale: try next(), passwordAddress: try next(), emails: try next(), phones: try next(),
            authenticatedAt: authenticatedAt, provider: provider, providerUid: providerUid)
        account.providers = Set(try next([String]?.self) ?? [])
        return account
    }
}
