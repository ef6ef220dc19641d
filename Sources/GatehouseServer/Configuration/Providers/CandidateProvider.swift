internal import Accounts
internal import Administration
internal import ProviderKit

extension SettingsReader {
    /// Creates a provider from settings that an administrator has sent, as if they were in the file.
    ///
    /// - Throws: `AdministrationError.invalidProviderSettings` with every problem.
    static func candidate(
        _ sent: CandidateSettings, in application: Accounts.Application, installed: InstalledProviders,
        ports: ProviderPorts
    ) throws -> ProviderCandidate {
        let reader = SettingsReader(file: "", environment: [:], installed: installed, isCandidate: true)
        guard sent.name.isConfiguredName else {
            throw refusal("name", "must be 1 to 63 of a-z, 0-9, _ and -, the first a letter or digit")
        }
        guard installed.kind(sent.kind) != nil else {
            let kinds = installed.kinds.map { $0.kind }.joined(separator: ", ")
            throw refusal("kind", "must be one of \(kinds)")
        }
        guard let members = sent.settings.object else { throw refusal("settings", "is not an object") }
        let root = Place(line: nil, path: "")
        var entries = [ConfigurationNode.Entry(key: "kind", value: ConfigurationNode(.string(sent.kind), at: root))]
        entries += members.inOrder.filter { $0.key != "kind" }.map { key, value in
            ConfigurationNode.Entry(key: key, value: ConfigurationNode(value, at: root.key(key, line: nil)))
        }
        let provider = reader.candidate(
            sent.name, from: ConfigurationNode(content: .table(entries), place: root), in: application, ports: ports)
        guard let provider else { throw AdministrationError.invalidProviderSettings(reader.settingProblems) }
        let callbackURL = provider is any RedirectProvider ? application.callbackURL(of: sent.name) : nil
        return ProviderCandidate(
            provider: provider, callbackURL: callbackURL,
            yaml: CandidateLines(sent, schema: installed.schema(of: sent.kind)).text)
    }

    private func candidate(
        _ name: String, from node: ConfigurationNode, in application: Accounts.Application, ports: ProviderPorts
    ) -> (any Provider)? {
        guard let settings = provider(name, node),
            let options = try? ProviderOptions(from: SettingsDecoder(settings))
        else { return nil }
        guard options.effectiveMode != .off else {
            report("is off, so that nothing can be checked", at: node.place(of: "mode"))
            return nil
        }
        let context = ProviderContext(
            name: name, applicationURL: application.issuer, audience: application.audience,
            exposedClaims: options.expose, ports: ports)
        return makeProvider(name, from: settings, options: options, in: context)?.provider
    }

    private var settingProblems: [SettingProblem] {
        (error?.problems ?? []).map { Self.problem($0.path.isEmpty ? "settings" : $0.path, $0.reason) }
    }

    private static func refusal(_ path: String, _ reason: String) -> AdministrationError {
        .invalidProviderSettings([problem(path, reason)])
    }

    private static func problem(_ path: String, _ reason: String) -> SettingProblem {
        SettingProblem(path: path, sentence: "\(path): \(reason)".escapingControlCharacters)
    }
}

extension InstalledProviders {
    fileprivate func schema(of kind: String) -> SettingsSchema {
        func schema<Kind: Provider>(_ kind: Kind.Type) -> SettingsSchema { Kind.Settings.schema }
        return self.kind(kind).map { schema($0) } ?? SettingsSchema([])
    }
}

extension [String: JSONValue] {
    /// The members in the order of the bytes of their names, which is quick for any name.
    fileprivate var inOrder: [(key: String, value: JSONValue)] {
        sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}

extension ConfigurationNode {
    /// A value as it would stand in a file.
    fileprivate init(_ value: JSONValue, at place: Place) {
        let content: Content =
            switch value {
            case .null: .null
            case .bool(let flag): .scalar(flag ? "true" : "false")
            case .integer(let number): .scalar("\(number)")
            case .number(let number): .scalar("\(number)")
            case .string(let text): .scalar(text)
            case .array(let values):
                .list(
                    values.enumerated().map { index, value in
                        ConfigurationNode(value, at: place.item(index, line: nil))
                    })
            case .object(let members):
                .table(
                    members.inOrder.map { key, value in
                        Entry(key: key, value: ConfigurationNode(value, at: place.key(key, line: nil)))
                    })
            }
        self.init(content: content, place: place)
    }
}

/// The lines of a configuration file for a provider, in the order of its schema.
private struct CandidateLines {
    let text: String

    /// Values are written as JSON, which is YAML too; secrets as variables.
    init(_ sent: CandidateSettings, schema: SettingsSchema) {
        let members = sent.settings.object ?? [:]
        let order = schema.fields.map(\.name)
        let secrets = Set(schema.fields.filter { $0.form == .secret }.map(\.name))
        let names = members.keys.filter { $0 != "kind" && members[$0] != .null }.sorted { one, other in
            let places = [one, other].map { order.firstIndex(of: $0) ?? -1 }
            return places[0] == places[1] ? one < other : places[0] < places[1]
        }
        var lines = ["providers:", "  \(sent.name):"]
        if sent.kind != sent.name { lines.append("    kind: \(sent.kind)") }
        for name in names {
            let value =
                secrets.contains(name)
                ? "\"${\(Self.variable(for: name, of: sent.name))}\"" : (members[name] ?? .null).text
            lines.append("    \(name): \(value)")
        }
        if lines.count == 2 { lines[1] += " {}" }
        text = lines.joined(separator: "\n") + "\n"
    }

    /// `GOOGLE_CLIENT_SECRET` for the setting `clientSecret` of `google`.
    private static func variable(for setting: String, of provider: String) -> String {
        let words = setting.reduce(into: "") { $0 += ($1.isUppercase ? "_" : "") + $1.uppercased() }
        let name = provider.uppercased().replacing("-", with: "_") + "_" + words
        return name.first?.isNumber == true ? "_" + name : name
    }
}
