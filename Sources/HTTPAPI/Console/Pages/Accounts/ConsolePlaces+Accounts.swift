internal import Console
internal import Foundation
internal import ProviderKit

extension ConsolePlaces {
    static let accounts: [ConsolePlace] = [
        accountList("/accounts", forms: [AccountQuery.path]), accountList(AccountQuery.path), account, accountNotes,
        secondAccount, mergeForecast,
    ]
    static let accountAnswers: [ConsoleAnswer] = [AccountQuery.answer, revealed, mergeForecastAnswer]
    static let accountReadings: [String: ConsoleReading] = [
        AccountQuery.path: { _, endpoint, fields in try AccountQuery.bodies(of: endpoint, from: fields) },
        "/accounts/{uid}/access": { _, endpoint, fields in
            var body = try ConsoleForm.body(of: endpoint, from: fields)
            // The form shows the present roles and claims, so that an emptied field takes them all away. What is sent as
            // it was shown is left out, because another administrator may have changed it meanwhile.
            if case .object(var members) = body {
                if !fields.all("roles").isEmpty { members["roles"] = members["roles"] ?? [] }
                if fields.emptied.contains("claims") { members["claims"] = [:] }
                for name in ["roles", "claims"] where ConsoleForm.isUnchanged(name, in: fields) { members[name] = nil }
                body = .object(members)
            }
            return [body]
        },
    ]

    /// The search, and all accounts; the address of the search has the same page, to begin again there.
    private static func accountList(_ path: String, forms: [String] = []) -> ConsolePlace {
        ConsolePlace(path, forms: forms) { request in
            try await allAccounts.page(for: request, in: "accounts", with: AccountQuery.forms(in: request))
        }
    }

    private static let allAccounts = ConsoleList(
        path: "/accounts", name: "accounts", columns: accountColumns, acts: ["/invitations"])

    /// The accounts that a search has found.
    static let foundAccounts = ConsoleList(
        path: "/accounts", name: "accounts",
        columns: accountColumns + [.init("Found by") { item, _ in .words("match", item["matchedBy"]) }])

    private static let accountColumns: [ConsoleList.Column] = [
        .init("Name") { item, request in
            [
                "text": .string(item["displayName"].string ?? "No name"),
                "href": request.accountLink(item["uid"])["href"],
            ]
        },
        .init("E-mail") { item, _ in .address(item["email"], isVerified: item["emailVerified"]) },
        .init("Phone") { item, _ in .address(item["phone"], isVerified: item["phoneVerified"]) },
        .init("State") { item, _ in
            // A sign-up that waits for its confirmation has no state.
            .words("option.status", item["status"].isNull ? "unconfirmed" : item["status"])
        },
        .init("Providers", "authProviders"),
        .init("Created", "createdAt"),
    ]
}

extension JSONValue {
    /// The words for one of a fixed set of values, or the value itself if there are none.
    static func words(_ kind: String, _ value: JSONValue) -> JSONValue {
        guard let name = value.string else { return .null }
        return .string(ConsoleTemplates.text("\(kind).\(name)") ?? name)
    }

    /// A masked address, and whether it is not verified.
    static func address(_ address: JSONValue, isVerified: JSONValue) -> JSONValue {
        guard let text = address.string else { return .null }
        return .string(isVerified.bool == true ? text : "\(text) (not verified)")
    }

    /// The object with `false` for members that are `null`, so that templates do not find members of the same names
    /// further out.
    var closed: JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.mapValues { $0.isNull ? false : $0 })
    }

    /// Who has acted, as the audit names them; `null` for the person.
    var actorInWords: JSONValue {
        if let pseudonym = self["account"].string { return .string("Administrator \(pseudonym.prefix(12))…") }
        if let key = self["key"].string { return .string("Service key \(key)") }
        if let host = self["cli"].string { return .string("A command on \(host)") }
        return .null
    }

    /// The reason of an act and its ticket.
    var reasonInWords: JSONValue {
        guard let code = self["code"].string else { return .null }
        let words = ConsoleTemplates.text("option.reason.code.\(code)") ?? code
        return .string(self["ticket"].string.map { "\(words), \($0)" } ?? words)
    }
}
