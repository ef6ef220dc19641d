internal import Accounts
internal import Administration
internal import Console
internal import Foundation
internal import ProviderKit

// The pages about configured providers: the list, and one provider.

extension ConsoleVisit {
    /// All providers, with what happened at them in the last 24 hours.
    func providersPage() async throws -> ConsolePage {
        let providers = try await allProviders()
        let signIns = try await signInsByHour()
        let rows = providers.map { provider in
            let name = provider["name"].string ?? ""
            return described(provider).merging([
                "href": .string("\(base)/providers/\(name)"), "spark": signIns(name).json(named: name),
            ]) { $1 }
        }
        return ConsolePage(
            "providers", title: ConsoleTemplates.text("providers.title") ?? "Providers",
            ["providers": .array(rows.map { .object($0) }), "hasProviders": .bool(!rows.isEmpty), "new": newProvider])
    }

    /// One provider: its mode, settings, health and callback URL, and what can be done about it.
    ///
    /// - Throws: 404 if there is none of the name in the path.
    func providerPage() async throws -> ConsolePage {
        let name = self["name"]
        guard let provider = try await allProviders().first(where: { $0["name"].string == name }) else {
            throw AdministrationError.notFound("provider")
        }
        var values = described(provider)
        values["spark"] = try await signInsByHour()(name).json(named: name)
        values["fileLine"] = values["line"]
        values["settings"] = .array(try await settings(of: name))
        values["findings"] = provider["health"]["findings"]
        values["planForm"] = form("/providers/{name}/plan")
        values["diagnoseForm"] = form("/providers/{name}/diagnose")
        if !provider["switch"].isNull {
            values["endForm"] = form("/providers/{name}/switch/end")
            values["switchedBy"] = try await actor(ofSwitch: provider["switch"], of: name)
        }
        if provider["flow"].string == ProviderFlow.redirect.rawValue, may(.writeProviders) {
            values["tryOut"] = .string("\(base)/providers/\(name)/try")
        }
        return ConsolePage("provider", title: name, values)
    }

    private func allProviders() async throws -> [JSONValue] {
        try await answer(to: "/providers", asking: [("limit", "200")])["items"].array ?? []
    }

    private var newProvider: JSONValue { link("/providers/check") }

    /// A provider of the admin API in words.
    private func described(_ provider: JSONValue) -> [String: JSONValue] {
        func word(_ list: String, _ key: JSONValue) -> JSONValue {
            let key = key.string ?? ""
            return .string(ConsoleTemplates.text("\(list).\(key)") ?? key)
        }
        let findings = provider["health"]["findings"].array ?? []
        let state = provider["health"]["state"]
        let switched =
            provider["switch"].object.map { made in
                JSONValue.object(made.merging(["mode": word("mode", provider["mode"])]) { $1 })
            } ?? false
        return [
            "name": provider["name"], "kind": provider["kind"], "flow": word("flow", provider["flow"]),
            "mode": word("mode", provider["mode"]), "fileMode": word("mode", provider["fileMode"]),
            "line": provider["line"].integer.map { .string("\($0)") } ?? false,
            "switch": switched,
            "callbackURL": provider["callbackURL"].isNull ? false : ["whole": provider["callbackURL"]],
            "health": word("health", state), "isDown": .bool(state.string == ProviderReport.State.down.rawValue),
            "lastSuccess": provider["health"]["lastSuccess"].isNull ? false : provider["health"]["lastSuccess"],
            "findingCount": .integer(Int64(findings.count)), "hasFindings": .bool(!findings.isEmpty),
            "isOneFinding": .bool(findings.count == 1), "last24h": provider["last24h"],
            "expiry": SecretExpiry(provider["secretExpires"]).map(\.json) ?? false,
        ]
    }

    /// The settings in force, and where each is from.
    private func settings(of provider: String) async throws -> [JSONValue] {
        let prefix = "applications.\(application.name).providers.\(provider)."
        return try await answer(to: "/configuration")["items"].array?.compactMap { item in
            guard let key = item["key"].string, key.hasPrefix(prefix) else { return nil }
            let json = try JSONEncoder.stable.encode(item["value"])
            let value = item["value"].string ?? String(decoding: json, as: UTF8.self)
            let source = item["source"].string ?? ""
            return [
                "key": .string(String(key.dropFirst(prefix.count))), "value": ["whole": .string(value)],
                "isSecret": .bool(value == "set"), "isDefault": .bool(source == "default"),
                "isEnvironment": .bool(source == "environment"),
                "line": source.hasPrefix("file:") ? .string(String(source.dropFirst("file:".count))) : false,
            ]
        } ?? []
    }

    /// Who has made a switch, for those who may read the audit.
    private func actor(ofSwitch made: JSONValue, of provider: String) async throws -> JSONValue {
        guard may(.readAudit) else { return false }
        let events = try await answer(
            to: "/audit", asking: [("event", "provider.switched"), ("since", made["since"].string)])
        let event = events["items"].array?.first { $0["details"]["provider"].string == provider }
        guard let actor = event?["actor"] else { return false }
        if actor["account"].string == session.pseudonym { return ["isYou": true] }
        return ["isYou": false, "key": actor["key"].isNull ? false : actor["key"]]
    }

    /// The sign-ins of the last 24 hours by provider.
    private func signInsByHour() async throws -> (String) -> SignInsByHour {
        let series = try await answer(to: "/statistics", asking: [("name", "signIns"), ("step", "hour")])["series"]
        let now = Date()
        return { name in
            let points = series.array?.first { $0["label"].string == name }?["points"] ?? .null
            return SignInsByHour(points: points, now: now)
        }
    }
}

/// The day on which a provider's secret expires.
private struct SecretExpiry {
    /// How long before it the page warns, in days, as the log does.
    private static let notice = 30
    private let day: Date
    private let daysLeft: Int

    /// The day as the admin API writes it, `2030-01-30`; `nil` for anything else.
    init?(_ value: JSONValue, now: Date = Date()) {
        guard let text = value.string, let day = Timestamp(text + "T00:00:00Z")?.date else { return nil }
        self.day = day
        daysLeft = Int((day.timeIntervalSince(now) / 86_400).rounded(.up))
    }

    var json: JSONValue {
        let words = day.formatted(
            Date.FormatStyle(date: .long, time: .omitted, locale: Locale(identifier: "en_GB"), timeZone: .gmt))
        return [
            "day": .string(words), "isOver": .bool(daysLeft <= 0),
            "isNear": .bool((1...Self.notice).contains(daysLeft)), "isOneDay": .bool(daysLeft == 1),
            "days": .integer(Int64(daysLeft)),
        ]
    }
}
