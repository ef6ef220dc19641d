/// The settings that a provider takes.
///
/// Start-up validation, `config check` and the configuration reference all follow this declaration.
public struct SettingsSchema: Sendable {
    /// In the order in which they are shown.
    public let fields: [SettingField]

    /// Creates a schema of fields with unique names.
    public init(_ fields: [SettingField]) {
        self.fields = fields
    }
}

/// One setting.
public struct SettingField: Sendable {
    /// What a setting's value looks like.
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
        /// A mapping from names to texts, or to nothing.
        case map
    }

    /// The key in the configuration.
    public let name: String
    /// What its value looks like.
    public let form: Form
    /// The server does not start without it.
    public let isRequired: Bool
    /// One sentence for an administrator.
    public let help: String

    /// Creates a setting.
    ///
    /// `help` ends with a full stop.
    public init(_ name: String, _ form: Form, required: Bool = false, help: String) {
        self.name = name
        self.form = form
        isRequired = required
        self.help = help
    }
}
