internal import Accounts
internal import Administration
internal import Console
internal import ProviderKit

extension ConsoleRequest {
    private static let explainRoute = "/explain"
    private static let example = """
        {
          "providerUid": "1234567890",
          "email": "ada@example.com",
          "emailVerified": true
        }
        """

    /// The form of a question about the linking rules, with an example to run.
    ///
    /// - Throws: `AdministrationError.forbidden`.
    func explainPage() async throws -> ConsolePage {
        try await require(Self.explainRoute)
        return explainPage(["answer": false])
    }

    /// The answer to a question about the linking rules, above the form that was sent.
    func explainPage(_ explanation: JSONValue, of fields: FormFields) throws -> ConsolePage {
        func account(_ found: JSONValue) -> JSONValue {
            guard let members = found.object else { return false }
            return .object(members.merging(accountLink(found["uid"]).object ?? [:]) { $1 })
        }
        var request = self
        request.attempt = ConsoleAttempt(path: path, fields: fields)
        var answer = explanation.object ?? [:]
        answer["identity"] = account(explanation["identity"])
        answer["asking"] = account(explanation["asking"])
        answer["addresses"] = .array(explanation["addresses"].array?.map(account) ?? [])
        answer["hasAddresses"] = .bool(explanation["addresses"].array?.isEmpty == false)
        answer["hasRemedies"] = .bool(explanation["remedies"].array?.isEmpty == false)
        answer["isRefused"] = .bool(explanation["outcome"].string == "refuse")
        let policy = explanation["policy"]
        answer["policy"] = .array(
            ["mode", "automatic", "onConflict"].map { name in
                let value = policy[name].string ?? ""
                return [
                    "label": .string(ConsoleTemplates.text("field.\(name)") ?? name),
                    "value": .string(ConsoleTemplates.text("option.\(name).\(value)") ?? value),
                ]
            })
        return request.explainPage(["answer": .object(answer)])
    }

    private func explainPage(_ values: [String: JSONValue]) -> ConsolePage {
        let names = application.providers.all.map(\.name)
        var values = values
        values["hasProviders"] = .bool(!names.isEmpty)
        values["form"] = form(
            Self.explainRoute, preset: ["provider": names.first ?? "", "evidence": Self.example],
            objects: ["evidence"], choices: ["provider": names])
        return ConsolePage("explain", title: ConsoleTemplates.text("act.explain.title") ?? "Explain", values)
    }
}
