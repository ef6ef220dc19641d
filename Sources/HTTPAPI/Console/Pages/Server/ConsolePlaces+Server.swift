internal import Console
internal import Foundation
internal import ProviderKit

extension ConsolePlaces {
    // MARK: - Audit

    static let audit = ConsolePlace("/audit") { request in
        var state = try await request.answer(to: "/audit/state").object ?? [:]
        state["isSealed"] = .bool(state["unsealed"]?.integer == 0)
        state["age"] = .string(Duration.seconds(state["oldestUnsealed"]?.integer ?? 0).inWords)
        return try await auditList.page(
            for: request, in: "audit",
            with: ["state": .object(state), "export": .string(request.path(of: "/audit/export"))])
    }

    private static let auditList = ConsoleList(
        path: "/audit", name: "audit",
        columns: [
            .init("Time", "at"),
            .init("Event") { item, request in
                item["event"].string.map { event in
                    ["text": .string(event), "href": .string(request.events(by: ["event": event]))]
                } ?? .null
            },
            .init("Account") { item, request in
                guard item["uid"].isNull else { return request.accountLink(item["uid"]) }
                return item["account"].string.map { pseudonym in
                    [
                        "text": .string("Pseudonym \(pseudonym.prefix(12))…"),
                        "href": .string(request.events(by: ["account": pseudonym])),
                    ]
                } ?? .null
            },
            .init("Actor") { item, request in request.actor(item["actor"]) },
            .init("Details") { item, _ in
                .string(JSONValue.object((item["details"].object ?? [:]).filter { $0.key != "actor" }).inline)
            },
        ])

    // MARK: - Keys

    static let keys = ConsoleList(
        path: "/keys", name: "keys",
        columns: [
            .init("Key", "kid"), .words("Signs", "purpose", of: "purpose"), .words("State", "state", of: "key"),
            .init("Algorithm") { item, _ in
                let bits = item["bits"].integer.map { ", \($0) bits" } ?? ""
                return .string((item["algorithm"].string ?? "") + bits)
            },
            .init("Created", "createdAt"), .init("Signed until", "retiredAt"),
            .init("Accepted until", "publishedUntil"),
        ],
        rowActs: [
            .init("/keys/{kid}/retire", "kid", by: "kid") { item in
                item["state"].string != "retired" && item["purpose"].string != "erasures"
            }
        ],
        acts: ["/keys/rotate"])

    /// What retiring a key would do; the reason that was typed stays in the form.
    static let retirement = ConsoleAnswer("/keys/{kid}/retire") { request, answer, fields in
        guard let endpoint = request.console.act(at: "/keys/{kid}/retire") else { throw APIError.nothingHere }
        var page = try await request.actPage(of: endpoint)
        page.values["form"] = request.form("/keys/{kid}/retire", preset: fields.values.filter { $0.key != "dryRun" })
        let effect = ConsoleTemplates.text("retirement.\(answer["state"].string ?? "")")
        page.values["what"] = effect.map { .string($0) }
        return page
    }

    // MARK: - Limits

    static let limits = ConsolePlace("/limits", forms: ["/limits/search", "/limits/lift"]) { request in
        try await request.require("/limits/search")
        var page = limitsPage(request, typed: [:])
        // Locks that could not be lifted are named by the form that was sent.
        if let attempt = request.attempt(at: request.path(of: "/limits/lift")) {
            page.values["lift"] = liftForm(request, typed: attempt.fields.values)
        }
        return page
    }

    static let locks = ConsoleAnswer("/limits/search") { request, answer, fields in
        var page = limitsPage(request, typed: fields.values)
        let found = ConsoleList(
            path: "/limits", name: "locks",
            columns: [
                .words("Lock", "kind", of: "lock"), .init("Of", "name"), .init("Until", "until"),
            ]
        ).table(of: ["items": answer["locks"]], next: nil, in: request)
        page.values["found"] = .object(found)
        // Counters that do not lock yet are lifted, too.
        page.values["lift"] = liftForm(request, typed: fields.values)
        return page
    }

    private static func limitsPage(_ request: ConsoleRequest, typed: [String: String]) -> ConsolePage {
        ConsolePage(
            "limits", title: ConsoleTemplates.text("list.limits.title") ?? "Limits",
            [
                "about": .string(ConsoleTemplates.text("list.limits.about") ?? ""),
                "search": request.form("/limits/search", preset: typed),
            ])
    }

    /// The form that lifts the locks of what was searched for.
    private static func liftForm(_ request: ConsoleRequest, typed: [String: String]) -> JSONValue {
        let subjects: Set = ["email", "phone", "address"]
        let subject = typed.filter { subjects.contains($0.key) }
        return request.form(
            "/limits/lift", preset: subject, hidden: Set(subject.keys), omitted: subjects.subtracting(subject.keys))
    }

    // MARK: - Configuration

    static let configuration = ConsolePlace("/configuration") { request in
        let answer = try await request.answer(to: "/configuration")
        var (titles, sections): ([String], [String: [JSONValue]]) = ([], [:])
        for item in answer["items"].array ?? [] {
            let key = ConfigurationKey(item["key"].string ?? "")
            if sections[key.section] == nil { titles.append(key.section) }
            sections[key.section, default: []].append(key.shown(of: item))
        }
        return ConsolePage(
            "configuration", title: ConsoleTemplates.text("list.configuration.title") ?? "Configuration",
            [
                "about": .string(ConsoleTemplates.text("list.configuration.about") ?? ""),
                "refused": refusedFile(answer["refused"]),
                "groups": .array(titles.map { ["title": .string($0), "items": .array(sections[$0] ?? [])] }),
            ])
    }

    private static func refusedFile(_ refused: JSONValue) -> JSONValue {
        guard let problems = refused["problems"].array else { return .null }
        return [
            "at": refused["at"],
            "problems": .array(
                problems.map { problem in
                    [
                        "line": .string(problem["line"].integer.map { "Line \($0): " } ?? ""), "key": problem["key"],
                        "reason": ["whole": problem["reason"]],
                    ]
                }),
        ]
    }
}

/// The path of a key in the configuration, in its section.
private struct ConfigurationKey {
    let section, rest: String

    /// The section is the first part of the path, or the first three below `applications`.
    init(_ path: String) {
        let parts = path.split(separator: ".", omittingEmptySubsequences: false)
        let depth = min(parts.first == "applications" ? 3 : 1, parts.count - 1)
        section = depth < 1 ? "Top level" : parts.prefix(depth).joined(separator: ".")
        rest = parts.dropFirst(depth).joined(separator: ".")
    }

    func shown(of item: JSONValue) -> JSONValue {
        let source: String? =
            switch item["source"].string ?? "" {
            case "default": nil
            case "environment": "from the environment"
            case let place: place.hasPrefix("file:") ? "line \(place.dropFirst(5))" : place
            }
        return [
            "key": .string(rest), "value": ["whole": .string(item["value"].inline.beginning)],
            "source": source.map { .string($0) } ?? false,
        ]
    }
}

extension ConsoleRequest {
    /// The list of the audit with filters.
    fileprivate func events(by filter: KeyValuePairs<String, String?>) -> String {
        path(of: "/audit").addingQuery(filter)
    }

    /// Who acted, with a link to what they did.
    fileprivate func actor(_ actor: JSONValue) -> JSONValue {
        guard let kind = ["account", "key", "cli"].first(where: { actor[$0].string != nil }) else { return .null }
        let filter = "\(kind):\(actor[kind].string ?? "")"
        return ["text": actor.actorInWords, "href": .string(events(by: ["actor": filter]))]
    }
}

extension Duration {
    /// The duration in its largest whole unit: `5 minutes`.
    var inWords: String {
        let seconds = components.seconds
        let (count, unit): (Int64, String) =
            switch seconds {
            case ..<120: (seconds, "second")
            case ..<7200: (seconds / 60, "minute")
            case ..<172_800: (seconds / 3600, "hour")
            default: (seconds / 86_400, "day")
            }
        return "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
}
