internal import Accounts
internal import Administration
internal import Console
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import ProviderKit

/// Signs people in to the console, as a client of the OpenID provider of the application that has their accounts.
struct ConsoleSignIn: Sendable {
    /// How long a person may take to sign in, in seconds.
    private static let flowTime = 1800
    /// How much the clocks of this server and of the database may differ, in seconds.
    private static let tolerance: Int64 = 60
    /// The longest path with a query, in bytes, for which browsers keep the cookie of the flow (RFC 6265, 6.1).
    private static let longestPath = 1200

    let console: ConsoleServices

    /// Sends the browser to sign in, from where it comes back to a path of the console.
    ///
    /// `prover` is the account that must prove again who it is; `nil` for a sign-in. With `prompting`, a live session of
    /// the browser does not suffice.
    func begin(
        returningTo path: String, prover: UUID? = nil, prompting: Bool = false, from context: OperationContext
    ) throws -> Response {
        let (settings, issuer) = try context.console
        let path = Self.returned(path)
        // The browser would not send the cookies of another of the server's hosts to the callback.
        guard context.isAt(settings.origin) else { return .seeOther(settings.origin + path) }
        let verifier = Digest.base64URL(SystemRandom.bytes(32))
        let state = Digest.base64URL(SystemRandom.bytes(16))
        var flow: [String: JSONValue] = [
            "state": .string(state), "verifier": .string(verifier), "path": .string(path),
        ]
        flow["prover"] = prover.map { .string($0.text) }
        // Without a prompt, the browser's session at the application's own pages may be as old as one here may be idle.
        let isPrompted = prompting || prover != nil
        let idle = settings.rules.idle.components.seconds
        flow["provenAfter"] = .integer(Int64(Date().timeIntervalSince1970) - (isPrompted ? 0 : idle))
        let url = issuer.url(of: .authorization).addingQuery([
            "client_id": OAuthClient.consoleID, "redirect_uri": settings.callback, "response_type": "code",
            "scope": "openid", "state": state, "code_challenge": CodeChallenge.s256(of: verifier),
            "code_challenge_method": "S256", "prompt": isPrompted ? "login" : nil,
            "max_age": isPrompted ? nil : String(idle),
        ])
        // Chromium does not let a form redirect to an origin that `form-action` lacks.
        let isBlocked = context.request.request.method == .post && issuer.origin != settings.origin
        var response = isBlocked ? Response.notice("proof", status: .forbidden, href: url) : .seeOther(url)
        let value = try console.sessions.cookie(
            of: .object(flow), purpose: "flow", for: Self.flowTime, home: issuer.application)
        response.headers.append(ConsoleCookie.flow.set(value, for: Self.flowTime, settings: settings))
        return response
    }

    /// A path of the console, cut to what fits into a cookie; `//host/console` would lead to another host.
    private static func returned(_ path: String) -> String {
        guard path.hasPrefix("/console") else { return "/console" }
        return path.utf8.count <= longestPath ? path : String(path.prefix { $0 != "?" })
    }

    /// Handles the callback: redeems the authorization code, and opens the person's session at the console.
    func finish(_ context: OperationContext) async throws -> Response {
        let (settings, issuer) = try context.console
        let (home, query) = (issuer.application, try context.request.query)
        let flow = console.sessions.value(
            ofCookie: ConsoleCookie.flow.value(in: context.request, settings: settings), purpose: "flow", home: home)
        guard let flow, let state = flow["state"].string, query["state"]?.hasSameBytes(as: state) == true,
            let path = flow["path"].string, let verifier = flow["verifier"].string,
            let provenAfter = flow["provenAfter"].integer
        else { return .notice("callback", refusing: .invalidState) }
        guard let code = query["code"] else { return .notice("callback", refusing: .forbidden) }
        let client = try issuer.settings.client(OAuthClient.consoleID)
        let grant: SessionGrant
        do {
            grant = try await console.openID.grants.openSession(
                by: RequestParameters([
                    "code": [code], "redirect_uri": [settings.callback], "code_verifier": [verifier],
                ]), for: client, by: issuer)
        } catch is OAuthError {
            return .notice("callback", refusing: .invalidState)
        }
        // A session that another device has lent proves nothing.
        guard !grant.isBorrowed else { return try begin(returningTo: path, prompting: true, from: context) }
        let isOtherAccount = flow["prover"].string.map { !$0.hasSameBytes(as: grant.uid.text) } ?? false
        // A person can remove the prompt from the URL, and then gets a code without a new proof.
        let isProven = Int64(grant.authenticatedAt.timeIntervalSince1970) + Self.tolerance >= provenAfter
        guard !isOtherAccount, isProven else {
            try await console.sessions.discard(grant.sessionID, of: grant.uid, home: home)
            return .notice(isOtherAccount ? "other-account" : "callback", refusing: .forbidden)
        }
        let cookie = try await console.sessions.open(
            grant.sessionID, of: grant.uid,
            keeping: ConsoleCookie.session.value(in: context.request, settings: settings), rules: settings.rules,
            home: home)
        var response = Response.seeOther(path)
        response.headers.append(ConsoleCookie.session.set(cookie, settings: settings))
        response.headers.append(ConsoleCookie.flow.drop(settings: settings))
        return response
    }
}

extension OperationContext {
    /// The settings of the console, and the OpenID provider at which administrators sign in.
    ///
    /// - Throws: 404 if there is none.
    var console: (settings: ConsoleSettings, issuer: Issuer) {
        get throws {
            guard let administration = scope.site.administration, let settings = administration.console,
                let issuer = scope.site.applications[administration.home.name]?.openID
            else { throw APIError.nothingHere }
            return (settings, issuer)
        }
    }
}

extension OperationContext {
    /// Whether the browser has sent the request to this origin.
    fileprivate func isAt(_ origin: String) -> Bool {
        Issuer.origin(of: request.request, in: scope).hasSameBytes(as: origin)
    }
}

extension Response {
    /// A page of the console.
    static func console(
        _ page: ConsolePage, in frame: [String: JSONValue] = [:], status: HTTPResponse.Status = .ok
    ) -> Response {
        .html(page.html(in: frame), headers: ConsolePage.headers, status: status)
    }

    /// A page with one sentence about what was refused, and a link to go on.
    static func notice(_ name: String, refusing code: ErrorCode) -> Response {
        .notice(name, status: HTTPResponse.Status(code: code.status), code: code)
    }

    /// A page with one sentence, and a link to go on: to `href`, or as the sentence needs it.
    static func notice(
        _ name: String, status: HTTPResponse.Status, href: String? = nil, code: ErrorCode? = nil
    ) -> Response {
        let title = ConsoleTemplates.text("notice.\(name).title") ?? "Console"
        let again = ConsoleTemplates.text("notice.\(name).again")
        var values: [String: JSONValue] = [
            "again": .string(again ?? ConsoleTemplates.text("notice.again") ?? ""),
            "href": ["whole": .string(href ?? (again == nil ? "/console" : "/console/sign-in"))],
        ]
        let text = ConsoleTemplates.text("notice.\(name).text").map { JSONValue.string($0) }
        if let code {
            values["refusal"] = ["code": .string(code.rawValue), "text": text ?? .null]
        } else {
            values["text"] = text
        }
        return .console(ConsolePage("notice", title: title, values), status: status)
    }
}
