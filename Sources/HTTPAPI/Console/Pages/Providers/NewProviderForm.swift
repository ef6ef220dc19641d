internal import Accounts
internal import Administration
internal import Console
internal import Foundation
internal import ProviderKit

/// The form with the settings of a provider that is not configured yet: its fields are those of the kind's schema.
///
/// Secrets that were typed are never shown again.
struct NewProviderForm: Sendable {
    let kind: ProviderKindDescription
    /// Where the form is sent.
    let path: String
    /// The names of the configured providers.
    let taken: [String]
    /// What was typed.
    let fields: FormFields?
    /// Why it was refused.
    let problem: APIError?

    private static let settings = "settings."
    private static let id = "new-provider"

    /// The form for the template `form`.
    func json(csrf: String) -> JSONValue {
        func text(_ part: String) -> JSONValue {
            ConsoleTemplates.text("act.providers.check.\(part)").map { .string($0) } ?? false
        }
        return [
            "action": .string(path), "csrf": .string(csrf), "name": "providers.check", "id": .string(Self.id),
            "fields": .array([hiddenKind, name] + kind.settings.fields.map(field)), "submit": text("submit"),
            "busy": text("busy"), "isGrave": false, "needsProof": false,
        ]
    }

    private var hiddenKind: JSONValue {
        ["name": "kind", "isHidden": true, "value": ["exact": .string(kind.name)]]
    }

    private var name: JSONValue {
        let suggestion = taken.contains(kind.name) ? "" : kind.name
        return shown(
            "name", as: "isText", label: ConsoleTemplates.text("field.name") ?? "Name", isRequired: true,
            help: ConsoleTemplates.text("act.providers.check.help.name") ?? "", value: fields?["name"] ?? suggestion)
    }

    private func field(of setting: SettingField) -> JSONValue {
        let name = Self.settings + setting.name
        let typed = fields?[name] ?? ""
        func field(_ control: String, value: String = typed, hint: String? = nil) -> JSONValue {
            let help = [setting.help, hint.flatMap { ConsoleTemplates.text("setting.\($0)") }].compactMap(\.self)
            return shown(
                name, as: control, label: setting.name, isRequired: setting.isRequired,
                help: help.joined(separator: " "), value: value)
        }
        switch setting.form {
        case .text, .url: return field("isText")
        case .secret: return field("isSecret", value: "")
        case .duration: return field("isText", hint: "duration")
        case .texts: return field("isArea", hint: "texts")
        case .map: return field("isArea", hint: "map")
        case .flag: return with(options: ["true", "false"], typed, in: field("isSelect"))
        case .choice(let words): return with(options: words, typed, in: field("isSelect"))
        }
    }

    private func with(options: [String], _ typed: String, in field: JSONValue) -> JSONValue {
        var field = field.object ?? [:]
        field["options"] = .array(
            options.map { option in
                [
                    "value": .string(option), "isChosen": .bool(option == typed),
                    "label": .string(ConsoleTemplates.text("setting.\(option)") ?? option),
                ]
            })
        return .object(field)
    }

    private func shown(
        _ name: String, as control: String, label: String, isRequired: Bool, help: String, value: String
    ) -> JSONValue {
        let problem = problems.filter { $0.field == name }.map(\.sentence)
        let mark = isRequired ? ConsoleTemplates.text("setting.required") : nil
        var field: [String: JSONValue] = [
            "name": .string(name), "id": .string("\(Self.id)-\(name.replacing(".", with: "-"))"), control: true,
            "label": .string(label + (mark.map { " (\($0))" } ?? "")),
            "isRequired": .bool(isRequired), "help": help.isEmpty ? false : .string(help),
            "value": ["exact": .string(value)],
            "problem": problem.isEmpty ? false : .string(problem.joined(separator: "; ")),
        ]
        field["described"] = ConsoleForm.described(field)
        return .object(field)
    }

    // MARK: - Problems

    /// The problems that no field of the form has.
    var otherProblems: [String] { problems.filter { $0.field == nil }.map(\.sentence) }

    /// The problems of the form, each with its field.
    private var problems: [(field: String?, sentence: String)] {
        guard let problem else { return [] }
        guard let listed = problem.details?["problems"]?.array else {
            return problem.message.hasPrefix("name ") ? [("name", problem.message)] : []
        }
        return listed.map { ($0["path"].string.flatMap(fieldName), $0["sentence"].string ?? "") }
    }

    /// The field of a setting, also of a part of one, such as `scopes[0]` or `claims.email`.
    private func fieldName(of path: String) -> String? {
        let head = String(path.prefix { $0 != "." && $0 != "[" })
        if head == "name" { return head }
        return kind.settings.fields.contains { $0.name == head } ? Self.settings + head : nil
    }
}

// MARK: - Reading

extension NewProviderForm {
    /// The body of `POST /providers/check`; a field `settings` with JSON takes the place of the fields of the schema.
    static func body(from fields: FormFields, in request: ConsoleRequest) throws -> JSONValue {
        guard let endpoint = request.console.act(at: "/providers/check") else { throw APIError.nothingHere }
        var body = try ConsoleForm.body(of: endpoint, from: fields).object ?? [:]
        let kind = request.console.administration.diagnosis.kinds.first { $0.name == fields["kind"] }
        if body["settings"] == nil {
            let settings = kind?.settings.fields.compactMap { setting in
                fields[Self.settings + setting.name].map { (setting.name, setting.value(of: $0)) }
            }
            body["settings"] = .object(Dictionary(settings ?? []) { first, _ in first })
        }
        return .object(body)
    }
}

extension SettingField {
    /// What was typed, as the configuration would have it; what does not fit stays a text, which the schema refuses.
    fileprivate func value(of text: String) -> JSONValue {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
        switch form {
        case .text, .url, .duration, .choice: return .string(text.trimmingCharacters(in: .whitespaces))
        case .secret: return .string(text.withLinesOfPEM)
        case .flag: return ["true": true, "false": false][text] ?? .string(text)
        case .texts:
            let items = lines.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
            return .array(items.filter { !$0.isEmpty }.map { .string($0) })
        case .map:
            let pairs = lines.map { line in
                line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                    .map { $0.trimmingCharacters(in: .whitespaces) }
            }
            guard pairs.allSatisfy({ $0.count == 2 }) else { return .string(text) }
            return .object(Dictionary(pairs.map { ($0[0], $0[1].isEmpty ? .null : .string($0[1])) }) { $1 })
        }
    }
}

extension String {
    /// A key in PEM with its line breaks (RFC 7468, 2), which browsers remove from text pasted into a password field.
    var withLinesOfPEM: String {
        guard let key = wholeMatch(of: /\s*(-----BEGIN [A-Z ]+-----)([^-]+)(-----END [A-Z ]+-----)\s*/) else {
            return self
        }
        var lines = [String(key.1)]
        var rest = Array(String(key.2).filter { !$0.isWhitespace })[...]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(64)))
            rest = rest.dropFirst(64)
        }
        return (lines + [String(key.3)]).joined(separator: "\n") + "\n"
    }
}
