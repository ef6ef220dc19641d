internal import ProviderKit

/// The declaration of one key of the configuration file.
///
/// Start-up, `config check` and the reference in `docs/configuration.md` all use this declaration.
struct Setting: Sendable {
    let name: String
    let form: Form
    let isRequired: Bool
    /// The value of an absent key, as it would be written in the file.
    let standard: ConfigurationNode.Content?
    /// Computes the default from the keys that are declared before this one.
    ///
    /// It returns `nil` if the setting has no default.
    var derived: (@Sendable (ConfigurationNode) -> ConfigurationNode.Content?)?
    /// The description for administrators, in one or more sentences.
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

    /// Creates the declaration of a provider's setting.
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
/// `settings` declares the keys. The mapping is decoded and `validate()` is called only if no key has a problem.
protocol SettingsSection: Decodable, Sendable {
    static var settings: [Setting] { get }

    /// The syntax of the values of keys that are not declared; `nil` if such keys are refused.
    static var furtherKeys: Form? { get }

    /// The keys that are set if the value is not a mapping: a key with `text` is set to that text, a key without `text`
    /// to the value itself.
    static var shorthand: [(key: String, text: String?)] { get }

    /// Refuses combinations of keys.
    func validate() throws(SettingsError)
}

extension SettingsSection {
    static var furtherKeys: Form? { nil }
    static var shorthand: [(key: String, text: String?)] { [] }
    func validate() throws(SettingsError) {}
}
