internal import Accounts
internal import Administration
internal import Console
internal import ProviderKit

// The pages about checks: of a configured provider, and of one that is not configured yet.

extension ConsoleRequest {
    /// What the checks of a configured provider have found.
    func diagnosisPage(_ diagnosis: JSONValue) -> ConsolePage {
        let name = self["name"]
        let title = ConsoleTemplates.text("act.providers.diagnose.title") ?? "Diagnosis"
        return ConsolePage(
            "provider-checks", title: "\(title): \(name)",
            [
                "provider": .string(name), "up": .string("\(base)/providers/\(name)"),
                "checks": described(checks: diagnosis["checks"]), "form": form("/providers/{name}/diagnose"),
            ])
    }

    /// The kinds of provider to choose from, or the form with the settings of a kind.
    ///
    /// - Throws: `AdministrationError.forbidden`.
    func newProviderPage() async throws -> ConsolePage {
        try await require("/providers/check")
        let sent = attempt(at: path)
        return try newProviderPage(sent?.fields, refused: sent?.problem)
    }

    /// What the checks of new settings have found, and the lines for the file, above the form that was sent.
    func newProviderPage(checked answer: JSONValue, _ fields: FormFields) throws -> ConsolePage {
        var page = try newProviderPage(fields, refused: nil)
        page.values["answer"] = [
            "checks": described(checks: answer["checks"]), "yaml": ["whole": answer["yaml"]],
            "callbackURL": answer["callbackURL"].isNull ? false : ["whole": answer["callbackURL"]],
            "hasVariables": .bool(answer["yaml"].string?.contains("${") == true),
        ]
        return page
    }

    private func newProviderPage(_ sent: FormFields?, refused problem: APIError?) throws -> ConsolePage {
        let chosen = try sent?["kind"] ?? context.request.query["kind"]
        let kinds = console.administration.diagnosis.kinds
        var values: [String: JSONValue] = ["path": .string(path), "up": .string("\(base)/providers"), "answer": false]
        if let kind = kinds.first(where: { kind in chosen?.hasSameBytes(as: kind.name) == true }) {
            let form = NewProviderForm(
                kind: kind, path: path, taken: application.providers.all.map(\.name), fields: sent, problem: problem)
            values["kind"] = .string(kind.name)
            values["form"] = form.json(csrf: formToken(for: path))
            values["otherProblems"] = .array(form.otherProblems.map { .string($0) })
            values["hasOtherProblems"] = .bool(!form.otherProblems.isEmpty)
        } else {
            values["kinds"] = .array(
                kinds.map { kind in
                    [
                        "name": .string(kind.name), "displayName": .string(kind.displayName),
                        "flow": .string(ConsoleTemplates.text("flow.\(kind.flow.rawValue)") ?? kind.flow.rawValue),
                        "href": .string(path.addingQuery(["kind": kind.name])),
                    ]
                })
        }
        let title = ConsoleTemplates.text("act.providers.check.title") ?? "New provider"
        return ConsolePage("provider-new", title: title, values)
    }

    /// Checks with their states in words.
    private func described(checks: JSONValue) -> JSONValue {
        .array(
            checks.array?.map { check in
                let state = check["state"].string ?? ""
                var shown = check.object ?? [:]
                shown["state"] = .string(ConsoleTemplates.text("check.\(state)") ?? state)
                shown["isBad"] = .bool(state == CheckOutcome.State.failed.rawValue)
                shown["isGood"] = .bool(state == CheckOutcome.State.ok.rawValue)
                for name in ["remedy", "evidence"] where check[name].isNull { shown[name] = false }
                return .object(shown)
            } ?? [])
    }
}
