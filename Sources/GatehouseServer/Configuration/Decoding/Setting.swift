internal import ProviderKit

/// The declaration of one key of the configuration file.
///
/// Start-up, `config check` and the reference in `docs/configuration.md` all follow it.
struct Setting: Sendable {
    let name: String
    let form: Form
    let isRequired: Bool
    /// The value of an absent key, written as in a file.
    let standard: ConfigurationNode.Content?
    /// Computes the default from the keys declared before this one.
    ///
    /// It returns `nil` if there is none.
    var derived: (@Sendable (ConfigurationNode) -> ConfigurationNode.Content?)?
    /// One or more sentences for an administrator.
    let help: String

    init(
        _ name: String, _ form: Form, required: Bool = false, default standard: ConfigurationNode.Content? = nil,
        derived: (@Sendable (ConfigurationNode) -> ConfigurationNode.Content?)? = nil, help: String
    ) {
        self.name = name
        self.form = form
        isRequired = required
        self.standard = standard
        self.derived = derived
        self.help = help
    }

    /// The setting of a provider.
    init(_ field: SettingField) {
        let form: Form =
            switch field.form {
            case .text: .text
            case .url: .httpURL
            case .secret: .secret
            case .flag: .flag
            case .duration: .duration
            case .choice(let words): .choice(words)
            case .texts: .list(of: .text)
            case .map: .map
            }
        self.init(field.name, form, required: field.isRequired, help: field.help)
    }
}

/// A mapping of the file that decodes to a value.
///
/// `settings` says what each key may hold. Decoding and `validate()` run only after every key has passed.
protocol SettingsSection: Decodable, Sendable {
    static var settings: [Setting] { get }

    /// The keys to set if the value is not a mapping: to the value itself for `nil`, otherwise to a fixed text.
    static var shorthand: [(key: String, text: String?)] { get }

    /// Refuses combinations of keys.
    func validate() throws(SettingsError)
}

extension SettingsSection {
    static var shorthand: [(key: String, text: String?)] { [] }

    func validate() throws(SettingsError) {}
}
