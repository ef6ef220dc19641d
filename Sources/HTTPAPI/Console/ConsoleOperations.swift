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
        operation("show \(place.path)") { visit in
            var visit = visit
            visit.attempt = try await waiting(for: place, in: visit)
            let settings = visit.settings
            visit.said = console.sessions.value(
                ofCookie: ConsoleCookie.said.value(in: visit.context.request, settings: settings), purpose: "said",
                in: visit.session, home: visit.home)
            var response = try await visit.response(place.build(visit))
            if visit.said != nil { response.headers.append(ConsoleCookie.said.drop(settings: settings)) }
            return response
        }
    }

    /// The form that was kept while the person authenticated again.
    private func waiting(for place: ConsolePlace, in visit: ConsoleVisit) async throws -> ConsoleAttempt? {
        guard try visit.context.request.query["resume"] != nil else { return nil }
        let paths = ([place.path] + place.forms).map(visit.path)
        let kept = try await console.sessions.takeKept(in: visit.session, home: visit.home) { form in
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
        operation("download \(path)") { visit in
            let origin = visit.context.request.request.headers[.secFetchSite] ?? "none"
            guard ["none", "same-origin"].contains(origin) else {
                return .seeOther(visit.path(of: ConsolePlaces.page(showing: path).path))
            }
            let parameters = console.endpoint(.get, path)?.takes.parameters ?? []
            let query = try visit.context.request.query
            return try await visit.get(path, asking: parameters.map { ($0.name, query[$0.name]?.inUTC) })
        }
    }

    // MARK: - Forms

    /// Takes the form of an operation of the admin API.
    ///
    /// An act leads to the page that shows its effect, a question to its answer. A refused form is shown again with what
    /// was typed; one that needs a fresh proof waits until the person has given it.
    func submit(_ endpoint: Endpoint) -> Operation<Void, Response> {
        operation("submit \(endpoint.actName)") { visit in
            let fields = try FormFields(visit.context.request.form, repeating: ConsoleForm.repeated(in: endpoint))
            let place = ConsolePlaces.answers.first { $0.path == endpoint.consolePath }
            do {
                let bodies =
                    try ConsolePlaces.readings[endpoint.consolePath]?(visit, endpoint, fields)
                    ?? [ConsoleForm.body(of: endpoint, from: fields)]
                var json = JSONValue.null
                for body in bodies {
                    let answer = try await visit.run(
                        endpoint, query: ConsoleForm.query(of: endpoint, from: fields), body: body)
                    if answer.headers[.contentDisposition] != nil { return answer }
                    json = try await visit.answer(answer)
                    if json["items"].array?.isEmpty == false { break }
                }
                if let place, place.isOfAct || !endpoint.isAct || json["dryRun"].bool == true {
                    return try await visit.response(place.build(visit, json, fields))
                }
                return try done(endpoint, json, in: visit)
            } catch AccountsError.tokenTooOld {
                let page = ConsolePlaces.page(ofForm: endpoint.consolePath)
                return try await entrance.askForProof(
                    visit.session, returningTo: visit.path(of: page.path), visit.context)
            } catch {
                guard visit.may(call: endpoint), let problem = APIError(any: error), problem.code != .internal else {
                    throw error
                }
                var visit = visit
                visit.attempt = ConsoleAttempt(path: visit.path, fields: fields, problem: problem)
                return try await visit.response(ConsolePlaces.page(ofForm: endpoint.consolePath).build(visit), problem)
            }
        }
    }

    /// Redirects to the page that shows the effect of an act, with a message about it.
    private func done(_ endpoint: Endpoint, _ answer: JSONValue, in visit: ConsoleVisit) throws -> Response {
        let names = ["secret", "link", "receipt", "ended", "kid", "delivered", "failure", "events"]
        var said: [String: JSONValue] = [:]
        for name in names where !answer[name].isNull {
            let isShownOnce = ["secret", "link"].contains(name)
            said[name] = isShownOnce ? answer[name] : answer[name].string.map { .string($0.beginning) } ?? answer[name]
        }
        // The account may be erased before its page is requested.
        let isErasure = endpoint.actName == "accounts.erase"
        let target = ConsolePlaces.page(showing: isErasure ? "/erasures" : endpoint.consolePath)
        var response = Response.seeOther(visit.path(of: target.path))
        response.headers.append(
            try console.saying(endpoint.actName, said, in: visit.session, settings: visit.settings, home: visit.home))
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
                return .notice("csrf", status: .forbidden)
            }
            var response = Response.notice("signed-out", status: .ok)
            for cookie in ConsoleCookie.allCases { response.headers.append(cookie.drop(settings: settings)) }
            return response
        }
    }

    func operation(
        _ name: String, _ run: @escaping @Sendable (ConsoleVisit) async throws -> Response
    ) -> Operation<Void, Response> {
        Operation("console.\(name)", limits: .administration) { context, _ in
            switch try await entrance.enter(context) {
            case .refused(let response): response
            case .visit(let visit): try await run(visit)
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
        ConsolePlace(path) { visit in
            guard let endpoint = visit.console.act(at: path) else { throw APIError.nothingHere }
            try await visit.require(endpoint)
            return try await visit.actPage(of: endpoint)
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
