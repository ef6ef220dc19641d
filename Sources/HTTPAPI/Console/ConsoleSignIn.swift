internal import Accounts
internal import Administration
internal import Console
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import ProviderKit

/// The console as a client of the OpenID provider of the application whose accounts administrators are.
struct ConsoleSignIn: Sendable {
    /// How long a person may take to sign in, in seconds.
    private static let flowTime = 1800

    let console: ConsoleServices

    /// Sends the browser to sign in, from where it comes back to a path of the console.
    ///
    /// `prover` is the account that must prove again who it is; `nil` for a sign-in. With `prompting`, a live session of
    /// the browser does not suffice.
    func begin(
        returningTo path: String, prover: UUID? = nil, prompting: Bool = false, from context: OperationContext
    ) throws -> Response {
        let (settings, issuer) = try context.console
        let verifier = Digest.base64URL(SystemRandom.bytes(32))
        let state = Digest.base64URL(SystemRandom.bytes(16))
        var flow: [String: JSONValue] = [
            "state": .string(state), "verifier": .string(verifier), "path": .string(path),
        ]
        flow["prover"] = prover.map { .string($0.text) }
        let url = issuer.url(of: .authorization).addingQuery([
            "client_id": OAuthClient.consoleID, "redirect_uri": settings.callback, "response_type": "code",
            "scope": "openid", "state": state, "code_challenge": CodeChallenge.s256(of: verifier),
            "code_challenge_method": "S256", "prompt": prompting || prover != nil ? "login" : nil,
        ])
        var response = Response.seeOther(url)
        let value = try console.sessions.cookie(of: .object(flow), purpose: "flow", home: issuer.application)
        response.headers.append(ConsoleCookie.flow.set(value, for: Self.flowTime, settings: settings))
        return response
    }

    /// Takes the answer of the application's pages.
    func finish(_ context: OperationContext) async throws -> Response {
        let (settings, issuer) = try context.console
        let (home, query) = (issuer.application, try context.request.query)
        let flow = console.sessions.value(
            ofCookie: ConsoleCookie.flow.value(in: context.request, settings: settings), purpose: "flow", home: home)
        guard let flow, let state = flow["state"].string, query["state"]?.hasSameBytes(as: state) == true,
            let path = flow["path"].string, let verifier = flow["verifier"].string
        else { return .notice("callback", status: .badRequest) }
        guard let code = query["code"] else { return .notice("callback", status: .forbidden) }
        let client = try issuer.settings.client(OAuthClient.consoleID)
        let grant: SessionGrant
        do {
            grant = try await console.openID.grants.openSession(
                by: RequestParameters([
                    "code": [code], "redirect_uri": [settings.callback], "code_verifier": [verifier],
                ]), for: client, by: issuer)
        } catch is OAuthError {
            return .notice("callback", status: .badRequest)
        }
        if let prover = flow["prover"].string, !prover.hasSameBytes(as: grant.uid.text) {
            return .notice("other-account", status: .forbidden)
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

extension Response {
    /// A page of the console.
    static func console(
        _ page: ConsolePage, in frame: [String: JSONValue] = [:], status: HTTPResponse.Status = .ok
    ) -> Response {
        var headers = HTTPFields()
        for (name, value) in ConsolePage.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return Response(
            status: status, headers: headers, body: .init(byteBuffer: .init(string: page.html(in: frame))))
    }

    /// A page with one sentence, and a link to begin again.
    static func notice(_ name: String, status: HTTPResponse.Status) -> Response {
        let title = ConsoleTemplates.text("notice.\(name).title") ?? "Console"
        var values: [String: JSONValue] = ["name": .string(name)]
        values["text"] = ConsoleTemplates.text("notice.\(name).text").map { .string($0) }
        return .console(ConsolePage("notice", title: title, values), status: status)
    }
}
