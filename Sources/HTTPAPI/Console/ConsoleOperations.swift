internal import Accounts
internal import Administration
internal import Console
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import ProviderKit

/// Shows the pages of the console and takes their forms.
struct ConsoleOperations: Sendable {
    let console: ConsoleServices

    var entrance: ConsoleGuard { ConsoleGuard(console: console) }
    private var signIn: ConsoleSignIn { ConsoleSignIn(console: console) }

    // MARK: - Pages

    /// Shows a page, after the person has signed in.
    func show(_ place: ConsolePlace) -> Operation<Void, Response> {
        operation("show \(place.path)") { request in
            var request = request
            request.attempt = try await waiting(for: place, in: request)
            let settings = request.settings
            request.said = console.sessions.value(
                ofCookie: ConsoleCookie.said.value(in: request.context.request, settings: settings), purpose: "said",
                in: request.session, home: request.home)
            var response = try await request.response(place.build(request))
            if request.said != nil { response.headers.append(ConsoleCookie.said.drop(settings: settings)) }
            return response
        }
    }

    /// The form that was kept while the person authenticated again.
    private func waiting(for place: ConsolePlace, in request: ConsoleRequest) async throws -> ConsoleAttempt? {
        guard try request.query["resume"] != nil else { return nil }
        let paths = ([place.path] + place.forms).map(request.path)
        let kept = try await console.sessions.takeKept(in: request.session, home: request.home) { form in
            paths.contains { form["path"].string?.hasSameBytes(as: $0) == true }
        }
        guard let kept, let path = kept["path"].string, let form = kept["form"].string else { return nil }
        return ConsoleAttempt(
            path: path, fields: try FormFields(form, repeating: console.repeatedFields), problem: nil)
    }

    /// Sends what a GET of the admin API streams as a file.
    ///
    /// A link of another site leads to the page above instead, because downloads are recorded and limited.
    func download(_ path: String) -> Operation<Void, Response> {
        operation("download \(path)") { request in
            let origin = request.headers[.secFetchSite] ?? "none"
            guard ["none", "same-origin"].contains(origin) else {
                return .seeOther(request.path(of: ConsolePlaces.page(showing: path).path))
            }
            let parameters = console.endpoint(.get, path)?.takes.parameters ?? []
            let query = try request.query
            return try await request.get(path, asking: parameters.map { ($0.name, query[$0.name]?.inUTC) })
        }
    }

    /// Redirects to the section of a page that shows what the admin API has at a path of its own.
    func showPart(_ name: String, of route: String) -> Operation<Void, Response> {
        operation("part \(name) of \(route)") { .seeOther("\($0.path(of: route))#\(name)") }
    }

    // MARK: - Forms

    /// Takes the form of an operation of the admin API.
    ///
    /// An act leads to the page that shows its effect, a question to its answer. A refused form is shown again with what
    /// was typed; one that needs a fresh proof waits until the person has given it.
    func submit(_ endpoint: Endpoint) -> Operation<Void, Response> {
        operation("submit \(endpoint.actName)") { request in
            let fields = try FormFields(request.context.request.form, repeating: ConsoleForm.repeated(in: endpoint))
            let place = ConsolePlaces.answers.first { $0.path == endpoint.consolePath }
            do {
                let bodies =
                    try ConsolePlaces.readings[endpoint.consolePath]?(request, endpoint, fields)
                    ?? [ConsoleForm.body(of: endpoint, from: fields)]
                var json = JSONValue.null
                for body in bodies {
                    let answer = try await request.run(
                        endpoint, query: ConsoleForm.query(of: endpoint, from: fields), body: body)
                    if answer.headers[.contentDisposition] != nil { return answer }
                    json = try await request.answer(answer)
                    if json["items"].array?.isEmpty == false { break }
                }
                if let place, place.isOfAct || !endpoint.isAct || json["dryRun"].bool == true {
                    return try await request.response(place.build(request, json, fields))
                }
                return try done(endpoint, json, in: request)
            } catch AccountsError.tokenTooOld {
                let page = ConsolePlaces.page(ofForm: endpoint.consolePath)
                return try await entrance.askForProof(
                    request.session, returningTo: request.path(of: page.path), request.context)
            } catch {
                guard request.may(call: endpoint), let problem = APIError(any: error), problem.code != .internal else {
                    throw error
                }
                var request = request
                request.attempt = ConsoleAttempt(path: request.path, fields: fields, problem: problem)
                return try await request.response(
                    ConsolePlaces.page(ofForm: endpoint.consolePath).build(request), problem)
            }
        }
    }

    /// Redirects to the page that shows the effect of an act, with a message about it.
    private func done(_ endpoint: Endpoint, _ answer: JSONValue, in request: ConsoleRequest) throws -> Response {
        let names = ["secret", "link", "receipt", "ended", "kid", "delivered", "failure", "events"]
        var said: [String: JSONValue] = [:]
        for name in names where !answer[name].isNull {
            let isShownOnce = ["secret", "link"].contains(name)
            said[name] = isShownOnce ? answer[name] : answer[name].string.map { .string($0.beginning) } ?? answer[name]
        }
        // The account may be erased before its page is requested.
        let isErasure = endpoint.actName == "accounts.erase"
        let target = ConsolePlaces.page(showing: isErasure ? "/erasures" : endpoint.consolePath)
        var response = Response.seeOther(request.path(of: target.path))
        response.headers.append(
            try console.saying(
                endpoint.actName, said, in: request.session, settings: request.settings, home: request.home))
        return response
    }

    // MARK: - Signing in and out

    /// Redirects to the first application that the person has a role for.
    var start: Operation<Void, Response> {
        Operation("console.start", limits: .administration) { context, _ in
            switch try await entrance.person(context) {
            case .refused(let response): return response
            case .signedIn(let session):
                guard let first = session.applications(of: context.scope.site).first else {
                    return await entrance.refuse(session, context)
                }
                return .seeOther("/console/\(first.name)")
            }
        }
    }

    /// Lets a person sign in by another method or to another account, even if their browser has a live session.
    var signInAgain: Operation<Void, Response> {
        Operation("console.signInAgain", limits: .administration) { context, _ in
            try signIn.begin(returningTo: "/console", prompting: true, from: context)
        }
    }

    var callback: Operation<Void, Response> {
        Operation("console.callback", limits: .administration) { context, _ in try await signIn.finish(context) }
    }

    var signOut: Operation<Void, Response> {
        Operation("console.signOut", limits: .administration) { context, _ in
            let (settings, issuer) = try context.console
            if let session = try await entrance.session(of: context) {
                if let refused = try await entrance.refuseForeignForm(in: session, context) { return refused }
                try await console.sessions.end(session, home: issuer.application)
            } else if entrance.isForeign(context.request.request, settings) {
                return .notice("csrf", refusing: .forbidden)
            }
            var response = Response.notice("signed-out", status: .ok)
            for cookie in ConsoleCookie.allCases { response.headers.append(cookie.drop(settings: settings)) }
            return response
        }
    }

    func operation(
        _ name: String, _ run: @escaping @Sendable (ConsoleRequest) async throws -> Response
    ) -> Operation<Void, Response> {
        Operation("console.\(name)", limits: .administration) { context, _ in
            switch try await entrance.enter(context) {
            case .refused(let response): response
            case .request(let request): try await run(request)
            }
        }
    }
}

extension ConsolePlaces {
    /// The page on which the form of an act stands: a page that names it, or a page of its own.
    static func page(ofForm path: String) -> ConsolePlace {
        all.first { $0.forms.contains(path) } ?? actPage(path)
    }

    /// The page that shows the effect of an act: the nearest one above its path.
    static func page(showing path: String) -> ConsolePlace {
        var parts = path.split(separator: "/").map(String.init)
        if path == "/invitations" { parts = ["accounts"] }
        if path.hasSuffix("/notes") { parts.removeLast() }
        while true {
            let above = parts.isEmpty ? "" : "/" + parts.joined(separator: "/")
            let found = all.first { $0.path == above && !$0.isOfForm }
            if let found, !(above.isEmpty && !parts.isEmpty) { return found }
            guard !parts.isEmpty else { return overview }
            parts.removeLast()
        }
    }

    /// The page with the form of one act alone, its effects, and whether it can be undone.
    static func actPage(_ path: String) -> ConsolePlace {
        ConsolePlace(path) { request in
            guard let endpoint = request.console.act(at: path) else { throw APIError.nothingHere }
            try await request.require(endpoint)
            return try await request.actPage(of: endpoint)
        }
    }
}

extension Endpoint {
    /// The path below `/console/{app}`, which is that below the base of the admin API.
    var consolePath: String { String(path.dropFirst(Endpoint.administrationBase.count)) }
}

extension ConsoleSession {
    /// The applications that the person has a role for, by name.
    func applications(of site: Site) -> [Accounts.Application] {
        site.applications.values.map(\.application).filter { !scopes(in: $0.id).isEmpty }
            .sorted { $0.name < $1.name }
    }
}
