internal import Accounts
internal import Administration
internal import Console
internal import Foundation
internal import ProviderKit

// The pages about configured providers: the list, and one provider.

extension ConsoleRequest {
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
            [
                "providers": .array(rows.map { .object($0) }), "hasProviders": .bool(!rows.isEmpty),
                "new": link("/providers/check"),
            ])
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
            values["switchedBy"] = try await switcher(of: name)
        }
        if provider["flow"].string == ProviderFlow.redirect.rawValue, may(.writeProviders) {
            values["tryOut"] = .string("\(base)/providers/\(name)/try")
        }
        return ConsolePage("provider", title: name, values)
    }

    private func allProviders() async throws -> [JSONValue] {
        try await answer(to: "/providers", asking: [("limit", "200")])["items"].array ?? []
    }

    /// A provider of the admin API in words.
    private func described(_ provider: JSONValue) -> [String: JSONValue] {
        let findings = provider["health"]["findings"].array ?? []
        let state = provider["health"]["state"]
        let switched =
            provider["switch"].object.map { made in
                JSONValue.object(made.merging(["mode": .words("mode", provider["mode"])]) { $1 })
            } ?? false
        return [
            "name": provider["name"], "kind": provider["kind"], "flow": .words("flow", provider["flow"]),
            "mode": .words("mode", provider["mode"]), "fileMode": .words("mode", provider["fileMode"]),
            "line": provider["line"].integer.map { .string("\($0)") } ?? false,
            "switch": switched,
            "callbackURL": provider["callbackURL"].isNull ? false : ["whole": provider["callbackURL"]],
            "health": .words("health", state), "isDown": .bool(state.string == ProviderReport.State.down.rawValue),
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
            let value = item["value"].inline
            let source = item["source"].string ?? ""
            return [
                "key": .string(String(key.dropFirst(prefix.count))), "value": ["whole": .string(value)],
                "isSecret": .bool(value == "set"), "isDefault": .bool(source == "default"),
                "isEnvironment": .bool(source == "environment"),
                "line": source.hasPrefix("file:") ? .string(String(source.dropFirst("file:".count))) : false,
            ]
        } ?? []
    }

    /// Who has made the switch in force, for those who may read the audit: the newest one.
    private func switcher(of provider: String) async throws -> JSONValue {
        guard may(.readAudit) else { return false }
        let events = try await answer(to: "/audit", asking: [("event", "provider.switched")])
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
