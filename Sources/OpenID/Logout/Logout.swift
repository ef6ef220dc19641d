package import Accounts
package import Foundation
internal import ProviderKit

/// Signing out of a browser (OpenID Connect RP-Initiated Logout).
package struct Logout: Sendable {
    package typealias Store = LogoutStore & SessionEndStore

    /// The name of an error page.
    package enum Fault: String, Error, Sendable {
        case invalidRequest = "invalid_request"
        case uri = "logout_uri"
        case hint = "logout_hint"
        /// The form is not one of this server's pages in this browser.
        case forged = "csrf"
    }

    package enum Response: Sendable {
        /// The person is signed out, and returns to the client.
        case redirect(String)
        /// The same parameters come again by a link, because another site's form brings no cookies (`SameSite=Lax`).
        ///
        /// The ID token comes in a cookie, because URLs are logged. A browser drops a cookie that is longer than 4 KiB;
        /// then the page asks.
        case reload(KeyValuePairs<String, String?>, hint: String?)
        /// The person is signed out; `others` says whether other accounts of the browser are not.
        case signedOut(others: Bool)
        /// The person must confirm, because the request does not prove that a client of the browser sent it.
        case ask([SignedInSession], formToken: String, flow: String)
        case fault(Fault)
    }

    let store: any Store
    let directory: ClientDirectory
    let issuing: TokenIssuing

    // MARK: - Requests of clients

    /// Ends the browser session that the ID token of `id_token_hint` belongs to; without one, asks the person.
    ///
    /// Nothing ends if the request has a fault. `hint` is the ID token that `reload` has put into a cookie.
    package func answer(
        _ parameters: RequestParameters, hint: String?, from browser: Authorization.Browser, at issuer: Issuer
    ) async throws -> Response {
        do {
            if let answer = try await endHinted(parameters, hint: hint, in: browser.sessions, at: issuer) {
                return answer
            }
        } catch let fault as Fault {
            return .fault(fault)
        }
        let flow = browser.flow.flatMap(issuing.opaque.parse) ?? issuing.opaque.make()
        return .ask(
            try await sessions(of: browser.sessions, client: nil, at: issuer),
            formToken: formToken(of: flow).text(showing: ""), flow: flow.text)
    }

    /// Lets the browser of another site's form ask again.
    package func reload(_ parameters: RequestParameters) -> Response {
        guard (try? parameters.check()) != nil else { return .fault(.invalidRequest) }
        let hint = parameters["id_token_hint"]
        // Only the characters of a JWT are safe in the value of a cookie.
        guard hint?.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "-_.".utf8.contains($0) }) ?? true else {
            return .fault(.hint)
        }
        return .reload(
            [
                "client_id": parameters["client_id"], "state": parameters["state"],
                "post_logout_redirect_uri": parameters["post_logout_redirect_uri"],
                "ui_locales": parameters["ui_locales"],
            ], hint: hint)
    }

    /// - Returns: `nil` if the request names no session of the browser.
    private func endHinted(
        _ parameters: RequestParameters, hint kept: String?, in browser: String?, at issuer: Issuer
    ) async throws -> Response? {
        guard (try? parameters.check()) != nil else { throw Fault.invalidRequest }
        guard let token = parameters["id_token_hint"] ?? kept,
            let hint = try await hint(token, of: parameters["client_id"], at: issuer)
        else { return nil }
        let client = try await directory.find(hint.clientID, at: issuer.named(hint.issuer) ?? issuer)
        let address = parameters["post_logout_redirect_uri"]
        guard address.map({ uri in client?.postLogoutRedirectURIs.contains { $0.matches(uri) } == true }) ?? true else {
            throw Fault.uri
        }
        let live = try await sessions(
            of: browser, client: hint.session.flatMap(UUID.init(uuidString:)), at: issuer)
        guard let session = session(of: hint, client: client, among: live, at: issuer) else { return nil }
        try await end(session, at: issuer)
        guard let address else { return .signedOut(others: live.count > 1) }
        return .redirect(address.addingQuery(["state": parameters["state"]]))
    }

    private func hint(_ token: String, of client: String?, at issuer: Issuer) async throws -> IdentityTokenHint? {
        do {
            return try await IdentityTokenHint.verified(token, of: client, by: issuing.jwts, at: issuer)
        } catch AccountsError.invalidToken {
            throw Fault.hint
        }
    }

    /// The browser's session that the token's session belongs to, or that is of the same account, also if that account
    /// was merged into another one since.
    private func session(
        of hint: IdentityTokenHint, client: OAuthClient?, among sessions: [SignedInSession], at issuer: Issuer
    ) -> SignedInSession? {
        sessions.first(where: \.hasClientSession)
            ?? sessions.first { session in
                guard let client else { return false }
                return ([session.uid] + session.absorbed).contains { uid in
                    issuer.subject(of: uid, for: client, by: issuing.opaque).hasSameBytes(as: hint.subject)
                }
            }
    }

    private func sessions(of browser: String?, client: UUID?, at issuer: Issuer) async throws -> [SignedInSession] {
        guard let browser = browser.flatMap(issuing.opaque.parse) else { return [] }
        return try await store.signedIn(browser.hash, clientSession: client, application: issuer.application.id)
    }

    // MARK: - Requests of people

    /// Ends the chosen session of the browser, without a choice the one it used last, or all of its sessions.
    ///
    /// Only the form of this server's page may ask for it.
    package func signOut(
        of browser: Authorization.Browser, account: String?, all: Bool, formToken token: String, at issuer: Issuer
    ) async throws -> Response {
        guard let flow = browser.flow.flatMap(issuing.opaque.parse), formToken(of: flow).isValid(token) else {
            return .fault(.forged)
        }
        let live = try await sessions(of: browser.sessions, client: nil, at: issuer)
        let chosen = account.flatMap { id in live.first { $0.id.text.hasSameBytes(as: id) } }
        guard account == nil || chosen != nil || all else { return .signedOut(others: !live.isEmpty) }
        let ending = all ? live : (chosen ?? live.first).map { [$0] } ?? []
        for session in ending { try await end(session, at: issuer) }
        return .signedOut(others: live.count > ending.count)
    }

    private func formToken(of flow: OpaqueToken) -> FormToken {
        FormToken(opaque: issuing.opaque, flow: flow, path: "/oauth/logout")
    }

    private func end(_ session: SignedInSession, at issuer: Issuer) async throws {
        _ = try await store.endSession(
            session.id, of: session.uid, because: .signedOut, application: issuer.application.id)
    }
}

/// A live session of a browser.
package struct SignedInSession: Sendable {
    package let id, uid: UUID
    /// The accounts that were merged into this one.
    package let absorbed: [UUID]
    /// Whether the client session that was asked for belongs to it.
    package let hasClientSession: Bool
    package let name, address: String?
    /// The configured name of the provider that opened it; `nil` for a guest.
    package let provider: String?

    package init(
        id: UUID, uid: UUID, absorbed: [UUID], hasClientSession: Bool, name: String?, address: String?,
        provider: String?
    ) {
        (self.id, self.uid, self.absorbed, self.hasClientSession) = (id, uid, absorbed, hasClientSession)
        (self.name, self.address, self.provider) = (name, address, provider)
    }
}

package protocol LogoutStore: Sendable {
    /// The live sessions of the browser, the last used first.
    func signedIn(
        _ browser: [UInt8], clientSession: UUID?, application: Application.ID
    ) async throws -> [SignedInSession]
}
