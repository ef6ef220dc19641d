package import Passwords
internal import ProviderKit

extension Configuration {
    package struct Passwords: SettingsSection, Equatable {
        package var argon2: Argon2Parameters
        /// The minimum length in code points.
        package var minimumLength: Int
        /// How long before a reset an identity must have been linked to be trusted without another sign-in.
        package var quarantine: Duration
        package var pepper: Pepper?

        static let settings = [
            Setting("argon2", .section(Argon2Parameters.self), default: [:], help: "The cost of hashing one password."),
            Setting(
                "minimumLength", .integer(8...128), default: "8", help: "The shortest password accepted, in characters."
            ),
            Setting(
                "quarantine", .duration, default: "7d",
                help: """
                    After a password reset, identities linked within this time before it sign in only once another \
                    sign-in has confirmed them. 0 switches this off.
                    """),
            Setting(
                "pepper", .section(Pepper.self),
                help: "A secret key that passwords are combined with before hashing; a secret alone is the key `1`."),
        ]
    }

    /// The key of an HMAC that is applied to passwords before they are hashed, and the previous keys.
    package struct Pepper: SettingsSection, Equatable {
        package struct Key: SettingsSection, Equatable {
            /// Stored with each hash; at most 8 bytes.
            package var id: String
            /// At least 32 bytes, used as they are.
            package var secret: Secret

            static let settings = [
                Setting(
                    "id",
                    .text("1 to 8 letters and digits") { text in
                        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
                        return isPlain && (1...8).contains(text.utf8.count) ? text : nil
                    }, required: true, help: "The key's name, which is stored with each hash."),
                Setting(
                    "secret",
                    .secret("a secret of at least 32 bytes, or file:PATH") { $0.utf8.count >= 32 }, required: true,
                    help: "The key itself."),
            ]
        }

        package var id: String
        package var secret: Secret
        package var previous: [Key]

        package var current: Key { Key(id: id, secret: secret) }

        static let settings =
            Key.settings + [
                Setting(
                    "previous", .list(of: .section(Key.self)), default: [],
                    help: "Keys that this one has replaced, for passwords that were hashed with them.")
            ]

        static var shorthand: [(key: String, text: String?)] { [("id", "1"), ("secret", nil)] }

        func validate() throws(SettingsError) {
            guard Set(previous.map(\.id) + [id]).count == previous.count + 1 else {
                throw SettingsError(setting: "previous", reason: "an id is used twice")
            }
        }
    }
}

/// `Argon2Parameters.init` checks the same bounds.
extension Argon2Parameters: SettingsSection {
    static let settings = [
        Setting(
            "memoryKiB", .integer(8...1_048_576), default: "65536",
            help: "Memory for one hash, in KiB: at least eight times `parallelism`."),
        Setting(
            "iterations", .integer(1...524_288), default: "2",
            help: "Passes over the memory; `memoryKiB` times `iterations` is at most 4194304."),
        Setting("parallelism", .integer(1...64), default: "4", help: "Lanes, all computed by one thread."),
    ]

    package init(from decoder: any Decoder) throws {
        let settings = try decoder.container(keyedBy: SettingName.self)
        try self.init(
            memoryKiB: settings.decode(UInt32.self, forKey: "memoryKiB"),
            iterations: settings.decode(UInt32.self, forKey: "iterations"),
            parallelism: settings.decode(UInt32.self, forKey: "parallelism"))
    }
}
