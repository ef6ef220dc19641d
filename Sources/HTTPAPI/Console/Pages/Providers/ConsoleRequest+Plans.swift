internal import Accounts
internal import Administration
internal import Console
internal import ProviderKit

// The pages about switches of providers: the plan of one, and its form.

extension ConsoleRequest {
    /// What another mode of a provider would do, and the form that switches it.
    func planPage(_ plan: JSONValue) -> ConsolePage {
        let name = self["name"]
        let id = plan["id"].string ?? ""
        var values: [String: JSONValue] = [
            "provider": .string(name), "up": .string("\(base)/providers/\(name)"),
            "from": .words("mode", plan["from"]), "to": .words("mode", plan["to"]), "validUntil": plan["validUntil"],
            "form": form(
                "/providers/{name}/switch", preset: ["plan": id], hidden: ["plan"], phrase: plan["confirm"].string),
            "yaml": ["whole": plan["yaml"]], "rules": plan["rules"],
            "isHarmless": .bool(["stranded", "detour"].allSatisfy { plan[$0].integer == 0 }),
            "sample": .array(plan["sample"].array?.map(accountLink) ?? []),
            "hasSample": .bool(plan["sample"].array?.isEmpty == false),
            "admins": [
                "affected": counted(plan["admins"]["affected"]), "you": plan["admins"]["you"],
                "lastOwner": plan["admins"]["lastOwner"],
            ],
            "sessionsOpened": counted(plan["sessions"]["openedByIt"]),
            "sessionsOfStranded": counted(plan["sessions"]["ofStranded"]),
        ]
        for count in [
            "identities", "accounts", "inGrace", "stranded", "detour", "unaffected", "signIns7d", "flowsUnderWay",
        ] {
            values[count] = counted(plan[count])
        }
        values["bar"] = FateBar(of: plan).map(\.json) ?? false
        let title = ConsoleTemplates.text("plan.title") ?? "Plan"
        return ConsolePage("provider-plan", title: "\(title): \(name)", values)
    }

    /// The form of a switch, for a plan that was shown before; without one, the form that makes a plan.
    ///
    /// - Throws: 404 if there is no provider of the name in the path; `AdministrationError.forbidden`.
    func switchPage() async throws -> ConsolePage {
        let route = "/providers/{name}/switch"
        try await require(route)
        let name = self["name"]
        guard application.providers[name] != nil else { throw AdministrationError.notFound("provider") }
        let sent = attempt(at: path(of: route))
        let hasPlan = sent?.fields["plan"] != nil && sent?.problem?.code != .planStale
        var values: [String: JSONValue] = [
            "up": .string("\(base)/providers/\(name)"), "needsPlan": .bool(!hasPlan),
            "planForm": hasPlan ? false : form("/providers/{name}/plan"),
        ]
        if sent?.fields["plan"] != nil {
            values["form"] = form(route, hidden: ["plan"], phrase: sent?.problem?.details?["confirm"]?.string)
        }
        let title = ConsoleTemplates.text("act.providers.switch.title") ?? "Switch"
        return ConsolePage("provider-switch", title: "\(title): \(name)", values)
    }

    /// A number with what a sentence needs to know of it.
    private func counted(_ number: JSONValue) -> JSONValue {
        ["count": number, "isOne": .bool(number.integer == 1), "isNone": .bool(number.integer == 0)]
    }
}

/// What becomes of the accounts that a plan concerns, as the parts of a bar.
struct FateBar {
    private static let width: Int64 = 1000
    /// The minimum width of a part that is not empty.
    private static let narrowest: Int64 = 12
    private static let names = ["stranded", "detour", "unaffected"]
    private let counts: [Int64]
    /// The widths of the parts, which add up to `width`.
    let widths: [Int64]

    /// The bar of a plan of the admin API; `nil` if it concerns no account.
    init?(of plan: JSONValue) {
        counts = Self.names.map { max(0, plan[$0].integer ?? 0) }
        let total = counts.reduce(0, +)
        guard total > 0 else { return nil }
        var widths = counts.map { count in
            count == 0 ? 0 : max(Self.narrowest, Int64(Double(count) / Double(total) * Double(Self.width)))
        }
        // The widest part absorbs rounding errors and the minimum widths of the others.
        let widest = widths.indices.max { widths[$0] < widths[$1] } ?? 0
        widths[widest] += Self.width - widths.reduce(0, +)
        self.widths = widths
    }

    var json: JSONValue {
        var parts: [String: JSONValue] = [:]
        var x: Int64 = 0
        let total = Double(counts.reduce(0, +))
        for (name, (count, width)) in zip(Self.names, zip(counts, widths)) {
            let share = Double(count) / total * 100
            parts[name] = [
                "x": .string("\(x)"), "width": .string("\(width)"), "isShown": .bool(width > 0),
                "share": .string(share > 0 && share < 0.1 ? "under 0.1%" : "\((share * 10).rounded() / 10)%"),
            ]
            x += width
        }
        return .object(parts)
    }
}
