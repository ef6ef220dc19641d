internal import Accounts
internal import Administration
internal import Console
internal import Foundation
internal import ProviderKit

/// The search for accounts: one field that takes an address, a number, an id or a name.
enum AccountQuery {
    static let path = "/accounts/search"

    /// The fields of the API that the visible field stands for, in the order in which they are tried.
    static func criteria(of typed: String) -> [String] {
        if UUID(uuidString: typed) != nil { return ["uid", "identity", "session", "receipt", "merge"] }
        if typed.contains("@") { return ["email"] }
        return typed.hasPrefix("+") ? ["phone"] : ["namePrefix"]
    }

    /// The calls of a search; the API's own fields count as they are, if there are any.
    static func bodies(of endpoint: Endpoint, from fields: FormFields) throws -> [JSONValue] {
        let body = try ConsoleForm.body(of: endpoint, from: fields)
        guard body == [:], let typed = typed(in: fields) else { return [body] }
        return criteria(of: typed).map { [$0: .string(typed)] }
    }

    private static func typed(in fields: FormFields) -> String? {
        guard let text = fields["q"]?.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty else { return nil }
        return text.hasPrefix("+") ? text.filter { !" -()./".contains($0) } : text
    }

    /// Whether a field of the API was sent for which the visible field does not stand.
    private static func isByOther(_ fields: FormFields) -> Bool {
        otherFields.contains { fields[$0] != nil }
    }

    /// The kind of search: `email`, `phone`, `name`, `id` or `other`.
    private static func kind(of fields: FormFields) -> String {
        guard !isByOther(fields) else { return "other" }
        let name = fieldsOfQuery.first { fields[$0] != nil } ?? typed(in: fields).flatMap { criteria(of: $0).first }
        return switch name {
        case nil: "other"
        case "email"?: "email"
        case "phone"?: "phone"
        case "namePrefix"?: "name"
        default: "id"
        }
    }

    /// The fields of the API for which the visible field stands.
    private static let fieldsOfQuery = [
        "email", "phone", "namePrefix", "uid", "identity", "session", "receipt", "merge",
    ]
    /// Those that have a form of their own.
    private static let otherFields: Set = ["emailPrefix", "phonePrefix", "providerUid", "provider"]
}

extension AccountQuery {
    /// What the template `accounts` shows of the forms that search.
    ///
    /// The field keeps what was typed; no title and no address has it.
    static func forms(in request: ConsoleRequest, asked fields: FormFields? = nil) -> [String: JSONValue] {
        let path = request.path(of: Self.path)
        let attempt = request.attempt(at: path)
        let fields = fields ?? attempt?.fields
        let isByOther = fields.map(isByOther) ?? false
        let typed = (["q"] + fieldsOfQuery).lazy.compactMap { fields?[$0] }.first
        var values: [String: JSONValue] = [
            "search": [
                "action": .string(path), "csrf": .string(request.formToken(for: path)),
                "q": ["exact": .string(typed ?? "")], "takesNames": .bool(request.may(.revealAccounts)),
                "problem": isByOther ? false : problem(of: attempt),
            ],
            "isByOther": .bool(isByOther),
        ]
        let prefixes: Set = request.may(.revealAccounts) ? [] : ["emailPrefix", "phonePrefix"]
        let kept = fields?.values.filter { otherFields.contains($0.key) } ?? [:]
        values["otherSearch"] = request.form(Self.path, preset: kept, omitted: prefixes.union(fieldsOfQuery))
        return values
    }

    /// The problem with the text in the field; `false` for a refusal that is not about it.
    private static func problem(of attempt: ConsoleAttempt?) -> JSONValue {
        guard let code = attempt?.problem?.code, [.invalidParameter, .missingParameter].contains(code) else {
            return false
        }
        return ConsoleTemplates.text("search.problem").map { .string($0) } ?? false
    }

    /// The page with what was found.
    static let answer = ConsoleAnswer(path) { request, answer, fields in
        var values = forms(in: request, asked: fields)
        values["hasFound"] = true
        values["path"] = .string(request.path(of: "/accounts"))
        values["found"] = .object(ConsolePlaces.foundAccounts.table(of: answer, next: nil, in: request))
        let none = ConsoleTemplates.text("list.found.none.\(kind(of: fields))")
        values["none"] = answer["items"].array?.isEmpty == false ? .null : none.map { .string($0) } ?? .null
        values["more"] = answer["next"].string.map { more(in: request, fields, after: $0) } ?? .null
        return ConsolePage("accounts", title: "Accounts", values)
    }

    /// The form for the next part.
    ///
    /// The cursor and the search terms are in its body, and not in an address.
    private static func more(in request: ConsoleRequest, _ fields: FormFields, after cursor: String) -> JSONValue {
        var sent = fields.values
        sent["after"] = cursor
        sent["csrf"] = request.formToken(for: request.path(of: path))
        return [
            "action": .string(request.path(of: path)),
            "fields": .array(
                sent.sorted { $0.key < $1.key }.map {
                    ["name": .string($0.key), "value": ["exact": .string($0.value)]]
                }),
        ]
    }
}
