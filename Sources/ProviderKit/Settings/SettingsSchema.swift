/// Which settings a provider takes.
///
/// Start-up validation, `config check`, the OpenAPI document and forms are all made from this one declaration.
public struct SettingsSchema: Sendable {
    /// In the order in which a form shows them.
    public let fields: [SettingField]

    /// A schema; names are unique.
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
        /// Text that is never shown again; `file:PATH` in it stands for the file's content.
        case secret
        /// `true` or `false`.
        case flag
        /// Whole seconds, or `90s`, `5m`, `2h`, `30d`.
        case duration
        /// One of these words.
        case choice([String])
        /// A list of texts.
        case texts
        /// Names with a text, or nothing, each.
        case map
    }

    /// The key in configuration.
    public let name: String
    /// What its value looks like.
    public let form: Form
    /// The server does not start without it.
    public let isRequired: Bool
    /// One sentence for an admin.
    public let help: String

    /// A setting; `help` ends with a full stop.
    public init(_ name: String, _ form: Form, required: Bool = false, help: String) {
        self.name = name
        self.form = form
        isRequired = required
        self.help = help
    }
}
