internal import Accounts
internal import Console
internal import Foundation
internal import ProviderKit

/// The form of an operation of the admin API: its fields are those of the request's schema, by their paths.
struct ConsoleForm: Sendable {
    let endpoint: Endpoint
    /// Where the form is sent.
    let path: String
    /// Values that the form has at first.
    var preset: [String: String] = [:]
    /// The hidden fields, with values in `preset`.
    var hidden: Set<String> = []
    /// The fields that remember, in `was.NAME`, what they showed at first.
    var remembered: Set<String> = []
    /// The fields that the form leaves out.
    var omitted: Set<String> = []
    /// The words that must be typed into `confirm`.
    var phrase: String?
    /// The objects that people type as JSON instead of field by field.
    var objects: Set<String> = []
    /// The choices of fields whose schema allows any text.
    var choices: [String: [String]] = [:]

    /// The operation's name without its prefix, by which texts are found.
    var name: String { endpoint.actName }

    private var schema: JSONSchema { endpoint.takes.body?.schema ?? JSONSchema(.object) }

    /// The names of fields that may have several values.
    static func repeated(in endpoint: Endpoint) -> Set<String> {
        Set(members(of: endpoint.takes.body?.schema ?? JSONSchema(.object)).filter { $0.schema.isList }.map(\.name))
    }

    /// The form for the template `form`, with what was typed into it.
    func json(csrf: String, attempt: ConsoleAttempt?) -> JSONValue {
        let faulty = attempt?.problem.flatMap { faultyField(by: $0) }
        let fields = members.filter { !omitted.contains($0.name) }.map { member in
            field(member, attempt: attempt, isFaulty: member.name == faulty?.name, reason: faulty?.reason)
        }
        return [
            "action": .string(path), "csrf": .string(csrf), "name": .string(name), "id": .string(elementID),
            "fields": .array(fields), "submit": .string(text("submit") ?? text("title") ?? endpoint.summary),
            "busy": text("busy").map { .string($0) } ?? false,
            "isGrave": .bool(text("grave") != nil), "needsProof": .bool(text("proof") != nil),
        ]
    }

    private var members: [Member] { Self.members(of: schema, keeping: objects) }

    /// The form's `id` in the page.
    private var elementID: String {
        text("id") ?? name.replacing(".", with: "-")
    }

    private func text(_ part: String) -> String? { ConsoleTemplates.text("act.\(name).\(part)") }

    /// The field that an error names first, and the rest of the error's text.
    private func faultyField(by problem: APIError) -> (name: String, reason: String)? {
        let message = problem.message
        if problem.code == .confirmationRequired {
            return ("confirm", ConsoleTemplates.text("form.confirm") ?? message)
        }
        let members = members.filter { !omitted.contains($0.name) && !hidden.contains($0.name) }
        var named = members.filter { member in
            // An error may name a member of an object alone, as in `email is not an address`.
            let names = [member.name] + member.schema.properties.keys
            return message.hasPrefix(member.name + ".") || names.contains { message.hasPrefix($0 + " ") }
        }.max { $0.name.utf8.count < $1.name.utf8.count }
        // An object that is missing as a whole is filled in from its first field on.
        named = named ?? members.first { message.hasPrefix($0.name.prefix { $0 != "." } + " ") }
        return named.map { ($0.name, Self.sentence(message, about: $0.name)) }
    }

    /// An error as a sentence beside the field that it names.
    private static func sentence(_ message: String, about name: String) -> String {
        guard message.hasPrefix(name + " ") else { return message }
        let rest = message.dropFirst(name.count + 1)
        return rest.prefix(1).uppercased() + rest.dropFirst() + "."
    }

    /// The ids of the elements that say more about a field; `false` if there are none.
    static func described(_ field: [String: JSONValue]) -> JSONValue {
        let parts = ["help", "problem", "phrase"].filter { name in
            field[name].map { !$0.isNull && $0 != false } ?? false
        }
        let ids = parts.map { "\(field["id"]?.string ?? "")-\($0)" }
        return ids.isEmpty ? false : .string(ids.joined(separator: " "))
    }

    private func field(
        _ member: Member, attempt: ConsoleAttempt?, isFaulty: Bool, reason: String?
    ) -> JSONValue {
        let name = member.name
        let typed = attempt?.fields
        let values = typed.map { $0.all(name) + [$0[name]].compactMap(\.self) } ?? preset[name].map { [$0] } ?? []
        var field: [String: JSONValue] = [
            "name": .string(name), "id": .string("\(elementID)-\(name.replacing(".", with: "-"))"),
            "label": .string(ConsoleTemplates.text("field.\(name)") ?? name),
            "isRequired": .bool(member.isRequired), "value": ["exact": .string(values.joined(separator: "\n"))],
        ]
        field["help"] = help(of: name).map { .string($0) }
        if isFaulty { field["problem"] = reason.map { .string($0) } }
        if remembered.contains(name) {
            field["was"] = ["exact": .string(typed?["was." + name] ?? preset[name] ?? "")]
        }
        if hidden.contains(name) {
            field["isHidden"] = true
            return .object(field)
        }
        if name == "confirm" { field["phrase"] = phrase.map { .string($0) } }
        field["described"] = Self.described(field)
        let choices = self.choices[name] ?? member.schema.choices
        if !choices.isEmpty {
            field[member.schema.isList ? "isChecks" : "isSelect"] = true
            field["options"] = .array(
                choices.map { choice in
                    [
                        "value": .string(choice), "isChosen": .bool(values.contains(choice)),
                        "id": .string("\(elementID)-\(name)-\(choice)".replacing(".", with: "-")),
                        "label": .string(ConsoleTemplates.words(for: choice, of: name)),
                    ]
                })
        } else if member.schema.kinds == [.boolean] {
            field["isCheck"] = true
            field["isChosen"] = .bool(!values.isEmpty)
        } else if member.schema.isList || member.schema.isFree || (member.schema.length?.upperBound ?? 0) >= 500 {
            field["isArea"] = true
        } else if member.schema.format == "date-time" {
            field["isTime"] = true
        } else if member.schema.kinds == [.integer] {
            field["isNumber"] = true
        } else {
            field["isText"] = true
        }
        return .object(field)
    }

    /// What the field means in this form, or in all.
    private func help(of field: String) -> String? {
        text("help.\(field)") ?? ConsoleTemplates.text("help.\(field)")
    }
}

extension Endpoint {
    /// The name of the admin API's operation without `admin.`.
    var actName: String { String(guards.name.dropFirst("admin.".count)) }
    /// Whether the operation is an act, which requires a reason; others only answer a question.
    var isAct: Bool { takes.body?.schema.properties["reason"] != nil }
}

// MARK: - Reading

extension ConsoleForm {
    /// A field of a form: a member of the body, or of an object in it by its path.
    fileprivate struct Member {
        let name: String
        let schema: JSONSchema
        let isRequired: Bool
    }

    /// The fields in the order of the file of texts.
    fileprivate static func members(
        of schema: JSONSchema, below prefix: String = "", isRequired: Bool = true, keeping objects: Set<String> = []
    ) -> [Member] {
        schema.properties.flatMap { name, member in
            let isNeeded = isRequired && schema.required.contains(name)
            return member.properties.isEmpty || objects.contains(prefix + name)
                ? [Member(name: prefix + name, schema: member, isRequired: isNeeded)]
                : members(of: member, below: "\(prefix)\(name).", isRequired: isNeeded, keeping: objects)
        }.sorted { rank(of: $0.name) < rank(of: $1.name) }
    }

    /// Own fields come first, then the reason, and the phrase last.
    private static func rank(of name: String) -> String {
        switch name {
        case "confirm": "3"
        case _ where name.hasPrefix("reason."): "2\(["code", "ticket", "note"].firstIndex { name.hasSuffix($0) } ?? 3)"
        default: "1\(ConsoleTemplates.text("order.\(name)") ?? "5")\(name)"
        }
    }

    /// The body of the operation that a form stands for; an object may be sent as JSON in one field.
    ///
    /// - Throws: `AccountsError.invalidParameter` for a field that must be JSON and is not.
    static func body(of endpoint: Endpoint, from fields: FormFields) throws -> JSONValue {
        try body(of: endpoint.takes.body?.schema ?? JSONSchema(.object), from: fields, below: "")
    }

    /// Whether a field that is remembered was sent as it was shown.
    static func isUnchanged(_ name: String, in fields: FormFields) -> Bool {
        let typed = (fields.all(name) + [fields[name]].compactMap(\.self)).joined(separator: "\n")
        let shown = fields.emptied.contains("was." + name) ? "" : fields["was." + name]
        // Browsers send line breaks as two characters (HTML, 4.10.22.4).
        return shown?.replacing("\r\n", with: "\n") == typed.replacing("\r\n", with: "\n")
    }

    /// The path with the query of the operation, whose parameters a form may have too.
    static func query(of endpoint: Endpoint, from fields: FormFields) -> String {
        endpoint.takes.parameters.reduce("/") { $0.addingQuery([$1.name: fields[$1.name]]) }
    }

    private static func body(of schema: JSONSchema, from fields: FormFields, below prefix: String) throws -> JSONValue {
        var members: [String: JSONValue] = [:]
        for (name, member) in schema.properties {
            guard !member.properties.isEmpty, fields[prefix + name] == nil else {
                members[name] = try value(of: member, named: prefix + name, in: fields)
                continue
            }
            let inner = try body(of: member, from: fields, below: "\(prefix)\(name).")
            if inner != [:] || schema.required.contains(name) { members[name] = inner }
        }
        return .object(members)
    }

    private static func value(of schema: JSONSchema, named name: String, in fields: FormFields) throws -> JSONValue? {
        if schema.isList {
            let lines = fields.all(name).flatMap { $0.split(whereSeparator: { $0.isNewline || $0 == "," }) }
                .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            return lines.isEmpty ? nil : .array(lines.map { .string($0) })
        }
        guard let text = fields[name] else { return nil }
        if schema.isFree {
            guard let value = JSONValue(json: Array(text.utf8)) else {
                throw AccountsError.invalidParameter(name, reason: "is not JSON")
            }
            return value
        }
        switch schema.kinds {
        case [.boolean]: return .bool(text != "false")
        case [.integer]: return Int64(text).map { .integer($0) } ?? .string(text)
        default: return .string(schema.format == "date-time" ? text.inUTC : text.replacing("\r\n", with: "\n"))
        }
    }
}

extension JSONSchema {
    fileprivate var isList: Bool { kinds == [.array] }
    /// Whether people write JSON for it.
    fileprivate var isFree: Bool { kinds.isEmpty || kinds == [.object] }
    /// The texts that are allowed.
    fileprivate var choices: [String] { (items?.values ?? values).compactMap(\.string) }
}

extension String {
    /// What the browser's field for a time sends, `2026-05-03T08:00`, as a time in UTC; other texts as they are.
    var inUTC: String {
        utf8.count == 16 && contains("T") ? self + ":00Z" : self
    }
}
