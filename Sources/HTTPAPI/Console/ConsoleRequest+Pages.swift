internal import Accounts
internal import Administration
internal import Console
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

extension ConsoleRequest {
    /// The response with a page, and with the status of what was refused.
    func response(_ page: ConsolePage, _ problem: APIError? = nil) async throws -> Response {
        var frame = frame
        // The field says with its label what the message says with the field's name in the API.
        frame["refusal"] = attempt?.problem?.shown(besideField: JSONValue.object(page.values).marksField)
        var response = Response.console(page, in: frame, status: .init(code: problem?.status ?? 200))
        response.headers[.retryAfter] = problem?.retryAfter.map(String.init)
        return response
    }

    /// What surrounds every page: navigation, who is signed in, and what was done or refused.
    private var frame: [String: JSONValue] {
        let names = session.applications(of: context.scope.site).map(\.name)
        let here = "/" + path.split(separator: "/").dropFirst(2).prefix(1).joined()
        var frame: [String: JSONValue] = [
            "app": .string(application.name), "base": .string(base), "who": .string(session.shownName),
        ]
        frame["signOut"] = .string(formToken(for: "/console/sign-out"))
        frame["hasSeveralApps"] = .bool(names.count > 1)
        frame["apps"] = .array(names.map { shownLink("/console/\($0)", $0, isCurrent: $0 == application.name) })
        let sections = ConsolePlaces.sections.filter { $0.scope.map(may) ?? true }
        frame["sections"] = .array(
            sections.map { section in
                let start = section.path.isEmpty ? "/" : section.path
                return shownLink(base + section.path, section.title, isCurrent: start == here)
            })
        if let said, let text = ConsoleTemplates.text("act.\(said["act"].string ?? "").done", said) {
            var shown: [String: JSONValue] = ["text": .string(text)]
            let secret = said["secret"].string ?? said["link"].string
            shown["shown"] = secret.map { ["whole": .string($0)] }
            frame["said"] = .object(shown)
        } else if let attempt, attempt.problem == nil {
            frame["said"] = ["text": .string(ConsoleTemplates.text("said.resumed") ?? "")]
        }
        return frame
    }

    private func shownLink(_ path: String, _ title: String, isCurrent: Bool) -> JSONValue {
        ["href": .string(path), "title": .string(title), "isCurrent": .bool(isCurrent)]
    }

    /// The form of an act, for the template `form`; `null` if the person may not act so.
    ///
    /// `place` is the path to send it to, if the route has parameters that this request lacks. Only acts on accounts take a
    /// note, which is kept with the account.
    func form(
        _ route: String, at place: String? = nil, preset: [String: String] = [:], hidden: Set<String> = [],
        remembered: Set<String> = [], omitted: Set<String> = [], phrase: String? = nil, objects: Set<String> = [],
        choices: [String: [String]] = [:]
    ) -> JSONValue {
        guard let endpoint = console.act(at: route), may(call: endpoint) else { return .null }
        let path = place ?? path(of: route)
        // The path names the application of a role.
        let omitted = omitted.union(endpoint.path.contains("/accounts/{uid}") ? ["on"] : ["on", "reason.note"])
        return ConsoleForm(
            endpoint: endpoint, path: path, preset: preset, hidden: hidden, remembered: remembered, omitted: omitted,
            phrase: phrase ?? self.phrase(of: endpoint), objects: objects, choices: choices
        ).json(csrf: formToken(for: path), attempt: attempt(at: path))
    }

    /// The words that confirm an act, which name what it is done to.
    private func phrase(of endpoint: Endpoint) -> String? { text("phrase", of: endpoint) }

    /// A text about an act, in which the parameters of the path are values.
    private func text(_ part: String, of endpoint: Endpoint) -> String? {
        let names = endpoint.path.matches(of: /\{(\w+)\}/).map { String($0.1) }
        // Phrases have ids as the server writes them, even if the address of the page has capital letters.
        let values = Dictionary(
            names.map { ($0, JSONValue.string(UUID(uuidString: self[$0])?.text ?? self[$0])) }
        ) { $1 }
        return ConsoleTemplates.text("act.\(endpoint.actName).\(part)", .object(values))
    }

    /// A link to the page of an act's form; `null` if the person may not act so.
    func link(_ route: String) -> JSONValue {
        guard let endpoint = console.act(at: route), may(call: endpoint) else { return .null }
        let name = "act.\(endpoint.actName)"
        return [
            "href": .string(path(of: route)),
            "title": .string(ConsoleTemplates.text("\(name).title") ?? endpoint.summary),
            "isGrave": .bool(ConsoleTemplates.text("\(name).grave") != nil),
        ]
    }

    /// An account's `uid`, with a link to its page for a person who may read accounts.
    func accountLink(_ uid: JSONValue) -> JSONValue {
        let href = uid.string.flatMap { may(.readAccounts) ? "\(base)/accounts/\($0)" : nil }
        return ["uid": uid, "text": uid, "href": href.map { .string($0) } ?? false]
    }

    /// The page with the form of one act, its target, its effects, and whether it can be undone.
    func actPage(of endpoint: Endpoint) async throws -> ConsolePage {
        let name = "act.\(endpoint.actName)"
        let target = try await target(of: endpoint)
        var values: [String: JSONValue] = ["target": target, "form": try await form(of: endpoint, for: target)]
        for part in ["what", "told", "undo"] {
            values[part] = text(part, of: endpoint).map { .string($0) }
        }
        values["up"] = .string(path(of: ConsolePlaces.page(showing: endpoint.consolePath).path))
        values["identity"] = try await identity(of: endpoint)
        return ConsolePage("act", title: ConsoleTemplates.text("\(name).title") ?? endpoint.summary, values)
    }

    /// The account that an act is done to, masked.
    private func target(of endpoint: Endpoint) async throws -> JSONValue {
        guard endpoint.path.contains("/accounts/{uid}/") else { return .null }
        return try await read("/accounts/{uid}")
    }
}

extension APIError {
    /// What the layout shows of a refusal: the sentence about its code, if there is one, and the message, unless a field
    /// of the page says it.
    func shown(besideField isMarked: Bool = false) -> JSONValue {
        let sentence = ConsoleTemplates.text("problem.\(code.rawValue)")
        return [
            "code": .string(code.rawValue), "text": .string(sentence ?? message),
            "message": sentence == nil || isMarked ? .null : .string(message),
        ]
    }
}

extension JSONValue {
    /// Whether a form in what a page shows has a field with a problem.
    fileprivate var marksField: Bool {
        switch self {
        case .object(let members): members["problem"]?.string != nil || members.values.contains(where: \.marksField)
        case .array(let items): items.contains(where: \.marksField)
        default: false
        }
    }
}
