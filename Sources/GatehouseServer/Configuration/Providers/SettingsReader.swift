import Accounts
import ProviderKit

/// Makes a provider from its part of the file: checks the settings against the provider's schema, decodes them into
/// its own type, and has it judge what a schema can't say.
///
/// Of a provider that is off, what stands in the file is checked, but nothing has to be there and no secret is fetched.
struct SettingsReader {
    let table: Table
    let isOff: Bool

    /// - Returns: `nil` exactly when something was reported.
    func configured(
        _ type: any Provider.Type, context: ProviderContext, displayName: String?, mode: ProviderMode,
        exposedClaims: [String]
    ) -> ConfiguredProvider? {
        guard let settings = settings(by: type.settingsSchema) else { return nil }
        guard !isOff else { return ConfiguredProvider(name: context.name, displayName: displayName, off: type) }
        return provider(type, settings: settings, context: context)
            .map {
                ConfiguredProvider(
                    name: context.name, displayName: displayName, mode: mode, exposedClaims: exposedClaims,
                    services: settings.services, provider: $0)
            }
    }

    private struct Settings {
        var node: ConfigurationNode
        var secrets: [String] = []
        var services: [String] = []
    }

    /// The settings in their plainest form: variables and secrets filled in, durations in seconds.
    private func settings(by schema: SettingsSchema) -> Settings? {
        var entries: [ConfigurationNode.Entry] = []
        var secrets: [String] = []
        var services: [String] = []
        var isComplete = true
        for field in schema.fields {
            let expectation = Expectation<ConfigurationNode>.setting(field.form, isOff: isOff)
            let isRequired = field.isRequired && !isOff
            guard isRequired || table.has(field.name) else { continue }
            guard let node = table.required(field.name, expectation) else {
                isComplete = false
                continue
            }
            entries.append(.init(key: field.name, line: node.line, value: node))
            guard case .scalar(let value) = node.content else { continue }
            if field.form == .secret { secrets.append(value) }
            if field.form == .url { services.append(value) }
        }
        guard isComplete else { return nil }
        let line = table.located.place.line ?? table.located.node.line
        return Settings(node: .init(line: line, content: .table(entries)), secrets: secrets, services: services)
    }

    private func provider<P: Provider>(
        _ type: P.Type, settings: Settings, context: ProviderContext
    ) -> P? {
        do {
            return try P(settings: P.Settings(from: SettingsDecoder(settings.node)), context: context)
        } catch let error as SettingsError {
            table.report(withholding(settings.secrets, from: error.reason), at: error.setting)
        } catch let error as DecodingError {
            let place = table.located.place.following(error.path, in: settings.node)
            table.located.reading.report(withholding(settings.secrets, from: error.reason), at: place)
        } catch {
            table.located.report("the provider refuses its settings")
        }
        return nil
    }

    /// A provider's own words, unless they hold what must never be shown.
    ///
    /// Two or three letters are in every sentence, and no secret.
    private func withholding(_ secrets: [String], from reason: String) -> String {
        let isTelling = secrets.contains { $0.count > 3 && reason.contains($0) }
        return isTelling ? "is refused; the reason would repeat a secret" : reason
    }
}

extension Provider {
    fileprivate static var settingsSchema: SettingsSchema { Settings.schema }
}

extension Expectation<ConfigurationNode> {
    /// A setting of that form, as what its decoder is to see.
    fileprivate static func setting(_ form: SettingField.Form, isOff: Bool) -> Self {
        switch form {
        case .text: node(of: .text) { .scalar($0) }
        case .url: node(of: .httpURL) { .scalar($0) }
        case .secret where isOff: Self { Located.isScalar($0) ? $0.node : nil }
        case .secret: node(of: .secret) { .scalar($0.value) }
        case .flag: node(of: .flag) { .scalar("\($0)") }
        case .duration:
            node(of: .duration(.zero ... .configuredMaximum)) { .scalar("\($0.components.seconds)") }
        case .choice(let words):
            node(of: .scalar(anyOf(words)) { words.contains($0) ? $0 : nil }) { .scalar($0) }
        case .texts: texts
        case .map: map
        }
    }

    private static func node<Setting>(
        of expectation: Expectation<Setting>, _ content: @escaping (Setting) -> ConfigurationNode.Content
    ) -> Self {
        Self { located in
            expectation.read(located).map { .init(line: located.place.line ?? located.node.line, content: content($0)) }
        }
    }

    private static var text: Self { node(of: .text) { .scalar($0) } }

    private static var texts: Self {
        node(of: .list(of: text)) { .list($0) }
    }

    private static var map: Self {
        .table { table in
            let entries = table.entries.compactMap { key, value -> ConfigurationNode.Entry? in
                let node = value.node.isNull ? value.node : text.read(value)
                return node.map { .init(key: key, line: $0.line, value: $0) }
            }
            return .init(line: table.located.node.line, content: .table(entries))
        }
    }
}

extension Located {
    fileprivate static func isScalar(_ located: Located) -> Bool {
        if case .scalar = located.node.content { return true }
        located.report(expected: "a secret: text, or file:PATH")
        return false
    }
}

extension Place {
    /// Where a decoder gave up.
    fileprivate func following(_ path: [any CodingKey], in node: ConfigurationNode) -> Place {
        guard let key = path.first else { return self }
        let rest = path.dropFirst()
        if let index = key.intValue, case .list(let items) = node.content, items.indices.contains(index) {
            return item(index, line: items[index].line).following(Array(rest), in: items[index])
        }
        guard let entry = node[key.stringValue] else { return self.key(key.stringValue, line: line) }
        return self.key(key.stringValue, line: entry.line).following(Array(rest), in: entry.value)
    }
}
