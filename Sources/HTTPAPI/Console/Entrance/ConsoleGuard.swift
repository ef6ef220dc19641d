internal import Accounts
internal import Administration
internal import Console
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import ProviderKit

/// Admits people to the console: a person without a session signs in first, and a person without a role is refused.
struct ConsoleGuard: Sendable {
    enum Entry: Sendable {
        case request(ConsoleRequest)
        /// The response to a person who is not admitted, or must sign in first.
        case refused(Response)
    }

    let console: ConsoleServices

    private var signIn: ConsoleSignIn { ConsoleSignIn(console: console) }

    /// The person who has sent a request for the pages of the application that the path names.
    func enter(_ context: OperationContext) async throws -> Entry {
        let (settings, issuer) = try context.console
        let session: ConsoleSession
        switch try await person(context) {
        case .signedIn(let found): session = found
        case .refused(let response): return .refused(response)
        }
        let name = context.request["app"]
        guard let served = context.scope.site.applications[name], served.application.name.hasSameBytes(as: name),
            let administrator = session.administrator(of: served.application)
        else {
            // A person with a role for another application does not learn which applications there are.
            guard session.grants.contains(where: \.counts) else { return .refused(await refuse(session, context)) }
            return .refused(.notice("unknown-application", refusing: .unknownApplication))
        }
        let scope = RequestScope(serving: served, like: context.scope)
        return .request(
            ConsoleRequest(
                console: console, settings: settings, home: issuer.application, session: session,
                administrator: administrator, scope: scope, context: context))
    }

    enum Person: Sendable {
        case signedIn(ConsoleSession)
        case refused(Response)
    }

    /// The person who has sent a request, with a session that is not idle and a method that is good enough.
    ///
    /// A form must come from a page of this session.
    func person(_ context: OperationContext) async throws -> Person {
        let (settings, issuer) = try context.console
        let request = context.request.request
        let path = request.method == .post ? request.uri.path : request.head.path ?? "/console"
        guard let session = try await session(of: context) else {
            if isForeign(request, settings) { return .refused(await refuseForeign(in: nil, context)) }
            return .refused(try signIn.begin(returningTo: path, from: context))
        }
        if let refused = try await refuseForeignForm(in: session, context) { return .refused(refused) }
        guard !session.isIdle else { return .refused(try await askForProof(session, returningTo: path, context)) }
        guard settings.rules.admits(session, at: issuer.application) else {
            return .refused(await refuse(session, context, because: "method"))
        }
        return .signedIn(session)
    }

    /// The live session of a request's cookie, which may be idle.
    func session(of context: OperationContext) async throws -> ConsoleSession? {
        let (settings, issuer) = try context.console
        let cookie = ConsoleCookie.session.value(in: context.request, settings: settings)
        return try await console.sessions.session(cookie, rules: settings.rules, home: issuer.application)
    }

    /// The answer to a form that no page of this session has sent; `nil` for another request.
    func refuseForeignForm(in session: ConsoleSession, _ context: OperationContext) async throws -> Response? {
        let (settings, request) = (try context.console.settings, context.request.request)
        guard request.method == .post else { return nil }
        let fields = try FormFields(context.request.form, repeating: console.repeatedFields)
        if !isForeign(request, settings),
            console.sessions.isFormToken(fields["csrf"], for: request.uri.path, in: session)
        {
            return nil
        }
        return await refuseForeign(in: session, context)
    }

    /// Refuses a form of another site, and records that if the form came with a session.
    func refuseForeign(in session: ConsoleSession?, _ context: OperationContext) async -> Response {
        if let session { await audit("csrf", session, context) }
        return .notice("csrf", refusing: .forbidden)
    }

    /// Whether another site, or a program, has sent a form.
    func isForeign(_ request: Request, _ settings: ConsoleSettings) -> Bool {
        request.method == .post && !request.isOfOwnPage(at: settings.origin)
    }

    /// Sends the person to prove again who they are, and keeps a form that was sent until then.
    func askForProof(
        _ session: ConsoleSession, returningTo path: String, _ context: OperationContext
    ) async throws -> Response {
        let home = try context.console.issuer.application
        guard context.request.request.method == .post else {
            return try signIn.begin(returningTo: path, prover: session.uid, from: context)
        }
        let sentTo = context.request.request.uri.path
        let form: JSONValue = ["path": .string(sentTo), "form": .string(try context.request.form)]
        try await console.sessions.keep(form, in: session, home: home)
        return try signIn.begin(
            returningTo: path.addingQuery(["resume": "1"]), prover: session.uid, from: context)
    }

    /// Refuses a person who has no role for the page.
    func refuse(_ session: ConsoleSession, _ context: OperationContext, because reason: String = "role") async
        -> Response
    {
        await audit(reason, session, context)
        if reason == "method" { return .notice("method", refusing: .forbidden) }
        let isOtherIdentity = !session.grants.isEmpty && !session.grants.contains(where: \.counts)
        return .notice(isOtherIdentity ? "other-identity" : "no-role", refusing: .forbidden)
    }

    private func audit(_ reason: String, _ session: ConsoleSession, _ context: OperationContext) async {
        guard let home = try? context.console.issuer.application else { return }
        await console.administration.audit(
            refusalOf: "console", for: ["reason": .string(reason)], to: .account(pseudonym: session.pseudonym),
            in: home, log: context.log)
    }
}

extension Request {
    /// Whether a page of the console has sent the request, according to the browser.
    func isOfOwnPage(at origin: String) -> Bool {
        if let site = headers[.secFetchSite] { return site.hasSameBytes(as: "same-origin") }
        return headers[.origin]?.hasSameBytes(as: origin) == true
    }
}

extension RequestScope {
    /// The scope of a request of the console for an application.
    fileprivate convenience init(serving application: ServedApplication, like other: RequestScope) {
        self.init(
            application: application, client: other.client, forwarding: other.forwarding, site: other.site,
            listener: other.listener)
    }
}
