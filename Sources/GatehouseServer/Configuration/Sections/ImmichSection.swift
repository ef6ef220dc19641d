internal import Accounts
internal import HTTPAPI
internal import ProviderKit

/// The dialect `immich` in the file.
struct ImmichSection: SettingsSection {
    let provider: String?
    let redirectURI: String?
    let version: String?
    let passwords: Bool
    let session: DialectSessionSection?
    let administrators: Administrators?
    let loginPageMessage: String?
    let config: Config
    let features: Features
    let pin: Pin

    static let settings = [
        Setting(
            "provider", .text,
            help: """
                The provider whose pages the app's button opens, or `hosted` for the application's own pages. Default: \
                the one provider that has pages.
                """),
        Setting(
            "redirectURI", .absoluteURI,
            help: """
                Where a sign-in ends whose request names no URI; one of `redirectURIs`, which requires PKCE. Default: \
                the only one that does.
                """),
        Setting(
            "version", .immichVersion,
            help: """
                The version of the photo back end, as in 1.119.0, which apps compare with their own. Not needed if a \
                proxy sends `/api/server` to the back end.
                """),
        Setting("passwords", .flag, default: "true", help: "Whether apps may sign in with a password."),
        Setting(
            "session", .section(DialectSessionSection.self),
            help: """
                How long people stay signed in: with `idle` and `lifetime`, or until the access token ends (`access`). \
                Default: 90d without use, 400d at most.
                """),
        Setting(
            "administrators", .section(Administrators.self),
            help: "Who is an administrator of the photo back end (`isAdmin`). Default: no account is."),
        Setting("loginPageMessage", .anyText, help: "A text on the app's page to sign in."),
        Setting(
            "config", .section(Config.self), default: [:],
            help: """
                What apps are told about the back end. Other keys are passed on as texts, whole numbers, or true or \
                false, except those that Gatehouse determines.
                """),
        Setting(
            "features", .section(Features.self), default: [:],
            help: """
                What the back end can do. Other keys are passed on as true or false, except those that Gatehouse \
                determines.
                """),
        Setting("pin", .section(Pin.self), default: [:], help: "The PIN of the locked folder."),
    ]

    struct Config: SettingsSection {
        let members: [String: JSONValue]

        static let settings = [
            Setting("trashDays", .integer(0...36_500), default: "30", help: "How many days the trash keeps photos."),
            Setting("publicUsers", .flag, default: "false", help: "Whether people can find each other."),
            Setting("mapDarkStyleUrl", .httpURL, help: "The style of the map on a dark screen."),
            Setting("mapLightStyleUrl", .httpURL, help: "The style of the map on a light screen."),
            Setting("maintenanceMode", .flag, default: "false", help: "Whether the back end is being maintained."),
        ]
        static let furtherKeys: Form? = .text("text, a whole number, or true or false") { $0 }

        init(from decoder: any Decoder) throws {
            let settings = try decoder.container(keyedBy: SettingName.self)
            let members = try settings.allKeys.map { key in
                (key.stringValue, JSONValue(scalar: try settings.decode(String.self, forKey: key)))
            }
            self.members = Dictionary(members) { first, _ in first }
        }
    }

    struct Features: SettingsSection {
        let members: [String: JSONValue]

        static let settings = ImmichSettings.backendFeatures.map {
            Setting($0, .flag, default: "false", help: "Whether the back end has this.")
        }
        static let furtherKeys: Form? = .flag

        init(from decoder: any Decoder) throws {
            let settings = try decoder.container(keyedBy: SettingName.self)
            let members = try settings.allKeys.map { key in
                (key.stringValue, JSONValue.bool(try settings.decode(Bool.self, forKey: key)))
            }
            self.members = Dictionary(members) { first, _ in first }
        }
    }

    struct Administrators: SettingsSection {
        let role: String

        static let settings = [
            Setting(
                "role", .role, required: true,
                help: "The role of accounts that are administrators, as `gatehouse account access` sets it.")
        ]
    }

    struct Pin: SettingsSection {
        let digits: String
        let elevation: Duration

        static let settings = [
            Setting(
                "digits", .choice(PinRules.ranges.keys.sorted(), description: "a number of digits as in 6 or 4-6"),
                default: "4-6", help: "How many digits a new PIN has, at least 4 and at most 6."),
            Setting(
                "elevation", .duration(.seconds(60) ... .seconds(86_400)), default: "15m",
                help: "How long the PIN unlocks a session."),
        ]

        var value: PinRules {
            var rules = PinRules()
            rules.digits = PinRules.ranges[digits] ?? PinRules.lengths
            rules.elevation = elevation
            return rules
        }
    }
}

extension JSONValue {
    /// The value that an app reads for a scalar of the file, which does not say whether it was quoted.
    fileprivate init(scalar text: String) {
        self =
            switch text {
            case "true": .bool(true)
            case "false": .bool(false)
            // A text such as 007 is no number.
            default: Int64(text).flatMap { "\($0)" == text ? .integer($0) : nil } ?? .string(text)
            }
    }
}

extension PinRules {
    /// The numbers of digits, as they are written in the configuration.
    fileprivate static let ranges: [String: ClosedRange<Int>] = {
        let pairs = lengths.flatMap { low in
            (low...lengths.upperBound).map { high in (low == high ? "\(low)" : "\(low)-\(high)", low...high) }
        }
        return Dictionary(pairs) { first, _ in first }
    }()
}

extension Form {
    /// A version of three numbers.
    fileprivate static let immichVersion = Form.text("a version of three numbers, as in 1.119.0") {
        ImmichSettings.Version($0).map { "\($0.major).\($0.minor).\($0.patch)" }
    }
}
