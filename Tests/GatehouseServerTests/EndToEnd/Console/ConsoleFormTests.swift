import Accounts
import Administration
import Console
import Foundation
import HTTPTypes
import ProviderKit
import Testing

@testable import GatehouseServer
@testable import HTTPAPI

/// Every operation of the admin API that is not a mere GET has a form at the console, and its texts.
///
/// A failure lists everything that is missing, one in a line.
struct ConsoleFormTests {
    /// A field of a form with the values that can be chosen.
    private struct Field: Hashable {
        let name: String
        let choices: [String]

        static func all(in schema: JSONSchema, below prefix: String = "") -> [Field] {
            schema.properties.sorted { $0.key < $1.key }.flatMap { name, member in
                member.properties.isEmpty
                    ? [
                        Field(
                            name: prefix + name, choices: (member.items?.values ?? member.values).compactMap(\.string))
                    ]
                    : all(in: member, below: "\(prefix)\(name).")
            }
        }
    }

    private static func lines(_ missing: some Sequence<String>) -> Comment {
        "\(Set(missing).sorted().joined(separator: "\n"))"
    }

    private static func operations(of server: TestServer) -> [Endpoint] {
        server.server.api.endpoints.filter { $0.takes.isOfAdministration && $0.method != .get }
    }

    private static func fields(of endpoint: Endpoint) -> [Field] {
        Field.all(in: endpoint.takes.body?.schema ?? JSONSchema(.object))
    }

    // MARK: - Forms

    /// The operations whose form follows another one: a plan, or the choice of a kind.
    private static let laterForms: Set = ["providers.switch", "providers.check"]

    @Test func `every operation has one form, on a page that shows it`() async throws {
        try await ConsoleBrowser.with { server, browser in
            let operations = Self.operations(of: server)
            #expect(Set(operations.map(\.path)).count == operations.count, "two operations would have one form's path")
            let routes = Set(server.server.api.endpoints.filter(\.takes.isOfConsole).map(\.route))
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let values = [
                "uid": person.uid, "id": try await client.identityID(of: "email", bearer: person.accessToken),
                "name": "scripted", "kid": "unknown",
            ]
            var missing: [String] = []
            for operation in operations {
                let pattern = "/console/{app}" + operation.consolePath
                missing += ["POST", "GET"].filter { !routes.contains("\($0) \(pattern)") }.map { "\($0) \(pattern)" }
                let path = pattern.replacing("{app}", with: "demo").split(separator: "/").map { part in
                    part.hasPrefix("{") ? values[String(part.dropFirst().dropLast())] ?? "unknown" : String(part)
                }.joined(separator: "/")
                guard !Self.laterForms.contains(operation.actName) else { continue }
                let view = try await browser.open("/" + path)
                guard let form = view.form("/" + path) else {
                    missing.append("the form of \(operation.actName) at its own path: \(view.status)")
                    continue
                }
                missing += Self.unlabelled(form).map { "a label of \($0) in the form of \(operation.actName)" }
                if form["csrf"]?.isEmpty != false { missing.append("csrf of \(operation.actName)") }
                let fields = Self.fields(of: operation).map(\.name)
                missing += ["reason.code", "confirm"].filter { fields.contains($0) && !form.names.contains($0) }
                    .map { "\($0) in the form of \(operation.actName)" }
            }
            #expect(missing.isEmpty, Self.lines(missing))
        }
    }

    /// The visible fields of a form without a label of their own.
    private static func unlabelled(_ form: PageForm) -> [String] {
        let labelled = Set(form.html.matches(of: /<label for="([^"]*)"/).map { String($0.output.1) })
        return form.html.matches(of: /<(?:input|select|textarea) [^>]*>/).map { String($0.output) }.filter { tag in
            guard !tag.contains("type=\"hidden\"") else { return false }
            let id = tag.firstMatch(of: /\sid="([^"]*)"/).map { String($0.output.1) }
            return id.map { !labelled.contains($0) } ?? true
        }
    }

    // MARK: - Texts

    /// The operations whose page makes the phrase, because it names more than the path does.
    private static let ownPhrases: Set<String> = ["providers.switch"]

    /// Whether the field has no label of its own, because people type it in another form.
    ///
    /// These are the field of the search, the JSON of evidence, and the form of a kind of providers. Names of events are
    /// shown as they are.
    private static func isUnseen(_ field: String, of operation: String) -> Bool {
        switch operation {
        case "accounts.search": ["identity", "merge", "receipt", "session", "uid"].contains(field)
        case "explain": field.hasPrefix("evidence.")
        case "providers.check": ["kind", "settings"].contains(field)
        case "providers.switch": field == "plan"
        case "webhooks.replay": field == "types"
        default: false
        }
    }

    @Test func `every operation, field and choice has its text`() async throws {
        try await TestServer.withConsole { server in
            let texts = ConsoleTemplates.texts
            var missing: [String] = []
            for operation in Self.operations(of: server) {
                let parts = operation.isAct ? ["title", "what", "told", "undo", "done"] : ["title"]
                missing += parts.map { "act.\(operation.actName).\($0)" }
                for field in Self.fields(of: operation) where !Self.isUnseen(field.name, of: operation.actName) {
                    missing.append("field.\(field.name)")
                    missing += field.choices.filter { texts["option.\($0)"] == nil }
                        .map { "option.\(field.name).\($0)" }
                    if field.name == "confirm", !Self.ownPhrases.contains(operation.actName) {
                        missing.append("act.\(operation.actName).phrase")
                    }
                }
            }
            missing = missing.filter { texts[$0]?.isEmpty != false }
            #expect(missing.isEmpty, Self.lines(missing))
        }
    }

    @Test func `every filter of a list has its text`() async throws {
        try await TestServer.withConsole { server in
            let texts = ConsoleTemplates.texts
            var missing: [String] = []
            for endpoint in server.server.api.endpoints
            where endpoint.takes.isOfAdministration && endpoint.method == .get
                && ConsolePlaces.all.contains(where: { $0.path.hasSameBytes(as: endpoint.consolePath) })
            {
                for parameter in endpoint.takes.parameters where !["limit", "after"].contains(parameter.name) {
                    missing.append("field.\(parameter.name)")
                    missing += parameter.schema.values.compactMap(\.string)
                        .filter { texts["option.\($0)"] == nil }.map { "option.\(parameter.name).\($0)" }
                }
            }
            missing = missing.filter { texts[$0]?.isEmpty != false }
            #expect(missing.isEmpty, Self.lines(missing))
        }
    }

    @Test func `no text is without a use, and none stands twice`() async throws {
        try await TestServer.withConsole { server in
            let uses = try TextUses()
            #expect(uses.repeated.isEmpty, Self.lines(uses.repeated))
            let operations = Self.operations(of: server)
            let names = Set(operations.map(\.actName)).union(Self.ownActs)
            let fields = Set(operations.flatMap(Self.fields(of:)))
            let parameters = server.server.api.endpoints.filter(\.takes.isOfAdministration).flatMap(\.takes.parameters)
            let objects = operations.flatMap { $0.takes.body?.schema.properties.keys.map(\.self) ?? [] }
            let fieldNames = Set(fields.map(\.name)).union(parameters.map(\.name)).union(objects)
            let choices = Set(fields.flatMap(\.choices)).union(parameters.flatMap(\.schema.values).compactMap(\.string))
            let unused = ConsoleTemplates.texts.keys.filter { key in
                let (kind, rest) = (key.prefix { $0 != "." }, String(key.drop { $0 != "." }.dropFirst()))
                switch kind {
                case "act":
                    return !names.contains { name in
                        guard rest.hasPrefix(name + ".") else { return false }
                        let part = String(rest.dropFirst(name.count + 1))
                        return Self.parts.contains(part) || part.hasPrefix("help.")
                    }
                case "field", "help", "order": return !fieldNames.contains(rest) && !uses.has(key)
                case "option":
                    return !choices.contains(rest) && !uses.has(key)
                        && !fields.contains { field in field.choices.contains { rest == "\(field.name).\($0)" } }
                default: return !uses.has(key)
                }
            }
            #expect(unused.isEmpty, Self.lines(unused))
        }
    }

    /// What the console does by itself, and the question that is a GET of the admin API.
    private static let ownActs = ["admins.claim", "you.admit", "accounts.why"]

    private static let parts: Set<String> = [
        "title", "what", "told", "undo", "done", "phrase", "submit", "busy", "grave", "proof", "id",
    ]
}

/// Where the console's sources use texts by their keys.
private struct TextUses {
    /// The keys in double quotes, and those of partials in templates.
    private var literal: Set<String> = []
    /// Keys with a part that is known at run time alone.
    private var patterns: [Regex<Substring>] = []
    /// The keys that stand in more than one place.
    private(set) var repeated: [String] = []

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        var keys: [String: Int] = [:]
        for folder in ["Sources/Console", "Sources/HTTPAPI/Console"] {
            let files = FileManager.default.enumerator(
                at: root.appending(path: folder), includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                guard ["swift", "html", "text"].contains(file.pathExtension) else { continue }
                let content = try String(contentsOf: file, encoding: .utf8)
                switch file.pathExtension {
                case "swift": try addLiterals(of: content)
                case "html": literal.formUnion(content.matches(of: /\{\{> ?([\w.-]+)/).map { String($0.output.1) })
                default:
                    for line in content.split(separator: "\n") where !line.hasPrefix("#") && line.contains(" = ") {
                        keys[String(line.prefix { $0 != " " }), default: 0] += 1
                    }
                }
            }
        }
        repeated = keys.filter { $0.value > 1 }.keys.sorted()
    }

    private mutating func addLiterals(of source: String) throws {
        for match in source.matches(of: /\.words\(\s*"([\w.]+)"/) {
            patterns.append(
                try Regex(NSRegularExpression.escapedPattern(for: match.output.1 + ".") + ".+", as: Substring.self))
        }
        for match in source.matches(of: /"((?:[^"\\\n]|\\\([^()]*(?:\([^()]*\)[^()]*)*\)|\\.)*)"/) {
            let text = String(match.output.1)
            guard text.contains("\\(") else {
                literal.insert(text)
                continue
            }
            let fixed = text.split(separator: /\\\([^()]*(?:\([^()]*\)[^()]*)*\)/, omittingEmptySubsequences: false)
            guard fixed.first?.contains(".") == true else { continue }
            let pattern = fixed.map { NSRegularExpression.escapedPattern(for: String($0)) }.joined(separator: ".+")
            patterns.append(try Regex(pattern, as: Substring.self))
        }
    }

    /// Whether a source has the key, or for `list.NAME.title`, `notice.NAME.text` and the like the name in it.
    func has(_ key: String) -> Bool {
        let parts = key.split(separator: ".").map(String.init)
        switch parts.first {
        case "list" where parts.count == 3, "notice" where parts.count == 3:
            return literal.contains(key) || literal.contains(parts[1])
        case "problem": return parts.count == 2 && ErrorCode(rawValue: parts[1]) != nil
        default: return literal.contains(key) || patterns.contains { key.wholeMatch(of: $0) != nil }
        }
    }
}
