internal import Administration
internal import Console
internal import Foundation
internal import ProviderKit

// MARK: - Revealing

extension ConsolePlaces {
    /// The values that an administrator has requested with a reason: the only page with unmasked values.
    static let revealed = ConsoleAnswer(accountPath + "/reveal", isOfAct: true) { request, answer, _ in
        let texts = ["displayName", "email", "phone"].filter { answer.object?[$0] != nil }
        var values: [String: JSONValue] = [
            "up": .string(request.path(of: accountPath)),
            "texts": .array(
                texts.map { name in
                    let label = ConsoleTemplates.text("option.fields.\(name)") ?? name
                    return [
                        "label": .string(label), "value": ["whole": .string(answer[name].string?.beginning ?? "None")],
                    ]
                }),
        ]
        if let metadata = answer.object?["metadata"] {
            values["metadata"] = ["whole": .string(try metadata.cut.asTypedJSON)]
        }
        for (name, list) in [("identities", accountIdentities), ("sessions", accountSessions)]
        where answer.object?[name] != nil {
            var list = list
            list.rowActs = []
            values[name] = .object(list.table(of: ["items": answer[name]], next: nil, in: request))
        }
        return ConsolePage("revealed", title: "Revealed fields", values)
    }
}

// MARK: - Merging

extension ConsolePlaces {
    static let mergeForecast = ConsolePlace(accountPath + "/merge", forms: [accountPath + "/merge"]) { request in
        try await request.require(accountPath + "/merge")
        return mergePage(in: request)
    }

    static let mergeForecastAnswer = ConsoleAnswer(accountPath + "/merge") { request, forecast, fields in
        var values: [String: JSONValue] = [:]
        for name in ["survivor", "absorbed"] { values[name] = request.accountLink(forecast[name]) }
        let moves = forecast["moves"]
        values["identities"] = .array(
            (moves["identities"].array ?? []).map {
                ["provider": $0["provider"], "providerUid": $0["providerUid"]]
            })
        for name in ["addresses", "displayName", "metadata"] {
            values[name] = moves[name].isNull || moves[name] == [] ? false : moves[name]
        }
        values["collisions"] = forecast["collisions"] == [] ? false : forecast["collisions"]
        values["warnings"] = forecast["warnings"]
        let sessions = forecast["drops"].array?.first { $0["kind"] == "sessions" }
        values["sessions"] = sessions?["count"] ?? false
        return mergePage(in: request, with: fields["other"], forecast: .object(values))
    }

    private static func mergePage(
        in request: ConsoleRequest, with other: String? = nil, forecast: JSONValue = .null
    ) -> ConsolePage {
        let route = accountPath + "/merge"
        var preset = ["dryRun": "true"]
        preset["other"] = other
        return ConsolePage(
            "merge", title: ConsoleTemplates.text("act.accounts.forecastMerge.title") ?? "Merge",
            [
                "up": .string(request.path(of: accountPath)), "forecast": forecast,
                "form": request.form(route, preset: preset, hidden: ["dryRun"]),
            ])
    }
}

// MARK: - Second accounts

extension ConsolePlaces {
    /// Why a person has a second account.
    ///
    /// The other account's id is in the query, because an id is no personal data.
    static let secondAccount = ConsolePlace(accountPath + "/why") { request in
        let typed = try request.query["other"]?.trimmingCharacters(in: .whitespaces)
        let other = typed?.isEmpty == true ? nil : typed
        let answer = try await request.answer(to: accountPath + "/why", asking: [("other", other)])
        var values: [String: JSONValue] = [
            "up": .string(request.path(of: accountPath)), "path": .string(request.path),
            "other": ["exact": .string(other ?? "")],
            "verdict": answer["verdict"], "rule": answer["rule"].isNull ? false : answer["rule"],
            "sentence": answer["sentence"], "remedies": answer["remedies"],
            "hasRemedies": .bool(answer["remedies"].array?.isEmpty == false),
        ]
        for name in ["then", "now"] where !answer[name].isNull {
            var shown = answer[name].closed.object ?? [:]
            shown["claims"] = .array((answer[name]["addresses"].array ?? []).map { request.claim($0) })
            values[name] = .object(shown)
        }
        return ConsolePage("why", title: ConsoleTemplates.text("act.accounts.why.title") ?? "Why", values)
    }
}

extension ConsoleRequest {
    /// What a provider claimed about an address, and which account owns it.
    fileprivate func claim(_ address: JSONValue) -> JSONValue {
        var shown: [String: JSONValue] = ["kind": .words("address", address["kind"])]
        shown["isVerified"] = .bool(address["verified"].bool == true)
        shown["isAuthoritative"] = .bool(address["authoritative"].bool == true)
        shown["owner"] = address["owner"].isNull ? false : accountLink(address["owner"])
        return .object(shown)
    }
}
