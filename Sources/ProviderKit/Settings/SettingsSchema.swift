/// The settings that a provider takes.
///
/// The validation at start-up, `config check` and the configuration reference all use this declaration.
public struct SettingsSchema: Sendable {
    /// The settings in the order in which the reference shows them.
    public let fields: [SettingField]

    /// Creates a schema of fields with unique names.
    public init(_ fields: [SettingField]) { self.fields = fields }
}

/// One setting.
public struct SettingField: Sendable {
    /// The syntax of a setting's value.
    public enum Form: Sendable, Equatable {
        /// Free text.
        case text
        /// An absolute `http` or `https` URL.
        case url
        /// Text that is never shown. `file:PATH` stands for the content of a file.
        case secret
        /// `true` or `false`.
        case flag
        /// Whole seconds, or `90s`, `5m`, `2h`, `30d`. It decodes as a `Duration` or as an integer of seconds.
        case duration
        /// One of these words.
        case choice([String])
        /// A list of texts.
        case texts
        /// A mapping from names to texts or `null`.
        case map
    }

    /// The key in the configuration.
    public let name: String
    /// The syntax of the value.
    public let form: Form
    /// Whether the setting is required; the server does not start without it.
    public let isRequired: Bool
    /// One sentence for an administrator.
    public let help: String

    /// Creates a setting.
    ///
    /// `help` ends with a full stop.
    public init(_ name: String, _ form: Form, required: Bool = false, help: String) {
        (self.name, self.form) = (name, form)
        isRequired = required
        self.help = help
    }
}
