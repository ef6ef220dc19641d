internal import Accounts
internal import ProviderKit

/// The settings that every provider has in addition to those of its kind.
struct ProviderOptions: SettingsSection {
    let kind: String?
    private let mode: ProviderMode?
    private let enabled: Bool?
    let displayName: String?
    let expose: [String]
    let secretExpires: Day?

    /// The mode; a configured provider without `mode` and `enabled` is open.
    var effectiveMode: ProviderMode { mode ?? (enabled == false ? .off : .open) }

    /// The key that sets the mode, as it is written in the file.
    fileprivate var modeStatement: String? {
        mode.map { "mode: \($0.rawValue)" } ?? enabled.map { "enabled: \($0)" }
    }

    static let settings = [
        Setting("kind", .text, help: "The kind of provider. Default: its name."),
        Setting(
            "mode", .choice(ProviderMode.allCases),
            help: """
                `open` allows sign-up, sign-in and linking; `existing` no sign-up; `linkOnly` only linking; `off` \
                nothing. Default: `open`.
                """),
        Setting("enabled", .flag, help: "`true` is short for mode `open`, `false` for `off`."),
        Setting("displayName", .text, help: "The text of a button. Default: the kind's own name."),
        Setting(
            "expose", .list(of: .exposedClaim), default: [],
            help: "Claims of the provider that `auth` and access tokens carry, at most 2 KiB in all."),
        Setting(
            "secretExpires", .day,
            help: "When the provider's secret expires. The log says so once a day from 30 days before."),
    ]

    /// All settings of a provider: the common ones, then those of its kind.
    static func settings(of kind: any Provider.Type) -> [Setting] {
        let retention = kind.kind == "anonymous" ? ApplicationSettings.Anonymous.settings.map(\.withoutDefault) : []
        return settings + retention + kind.schema.fields.map { Setting($0) }
    }
}

extension Provider { fileprivate static var schema: SettingsSchema { Settings.schema } }

extension Setting { fileprivate var withoutDefault: Setting { Setting(name, form, help: help) } }

extension Form {
    /// The providers of an application, by name.
    ///
    /// The kind of each provider determines its further keys.
    static let providers = named(ProviderOptions.settings) { name, node, reader in reader.provider(name, node) }

    fileprivate static let exposedClaim = scalar("text") { name, node, reader in
        guard !ExposedClaims.reserved.contains(name) else {
            reader.report("\(name) is a claim of the server's own tokens", at: node.place)
            throw Reported()
        }
        return name.isEmpty ? nil : node.with(.scalar(name))
    }
}

extension SettingsReader {
    /// Checks the settings of a provider.
    ///
    /// If the provider is off, required settings may be missing and secrets are not read.
    /// - Returns: `nil` if there is a problem.
    func provider(_ name: String, _ node: ConfigurationNode) -> ConfigurationNode? {
        guard node.isMapping else { return refuse(node, expected: "a mapping") }
        guard let kind = installed.kind(peek(node["kind"]) ?? name) else {
            let kinds = installed.kinds.map { $0.kind }.joined(separator: ", ")
            report("no such kind is installed, only \(kinds)", at: node.place(of: "kind"))
            return nil
        }
        let isOff = peek(node["mode"]) == "off" || node["mode"] == nil && peek(node["enabled"]) == "false"
        ignoresSecrets = isOff
        defer { ignoresSecrets = false }
        let (settings, isClean) = checking {
            if node["mode"] != nil, let enabled = node["enabled"] {
                report("only one of mode and enabled may be set", at: enabled.place)
            }
            let settings = table(node, ProviderOptions.settings(of: kind), allowsMissing: isOff)
            if let expose = settings?["expose"], !expose.items.isEmpty, !kind.exposesClaims {
                report("identities of kind \(kind.kind) have no claims to expose", at: expose.place)
            }
            return settings
        }
        return isClean ? settings : nil
    }

    /// Creates a provider from checked settings.
    func makeProvider(
        _ name: String, from settings: ConfigurationNode, options: ProviderOptions, in context: ProviderContext
    ) -> ConfiguredProvider? {
        guard let kind = installed.kind(options.kind ?? name) else { return nil }
        let declaration = ProviderDeclaration(
            mode: options.effectiveMode, statement: options.modeStatement, file: fileName, line: settings.place.line,
            secretExpires: options.secretExpires?.start)
        guard options.effectiveMode != .off else {
            return ConfiguredProvider(
                name: name, displayName: options.displayName, mode: .off, type: kind, declaration: declaration)
        }
        func texts(_ form: SettingField.Form) -> [String] {
            kind.schema.fields.filter { $0.form == form }.compactMap { settings[$0.name]?.text }
        }
        do {
            return ConfiguredProvider(
                name: name, displayName: options.displayName, mode: options.effectiveMode,
                exposedClaims: options.expose, services: texts(.url), type: kind,
                provider: try kind.make(from: SettingsDecoder(settings), in: context), declaration: declaration)
        } catch {
            report(error, at: settings, withholding: texts(.secret))
            return nil
        }
    }
}

extension Provider {
    fileprivate static func make(from decoder: SettingsDecoder, in context: ProviderContext) throws -> any Provider {
        try Self(settings: Settings(from: decoder), context: context)
    }
}
