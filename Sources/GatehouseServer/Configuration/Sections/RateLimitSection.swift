package import Accounts

extension RatePolicy {
    package static let standard = Self(
        Dictionary(uniqueKeysWithValues: RateLimit.allCases.map { ($0, $0.standardRate) }))
}

extension RatePolicy: SettingsSection {
    static let settings = RateLimit.allCases.filter { !$0.isBuiltIn }.map { limit in
        Setting(limit.rawValue, .rate, default: .scalar(limit.standardRate.configured), help: limit.help)
    }

    /// A mapping from limits to rates, or `off` for all of them.
    static let form = Form(
        description: "a mapping, or off", children: (".", settings),
        read: { node, reader in
            guard node.text != nil else { return Form.section(RatePolicy.self).read(node, reader) }
            return Form.choice(["off"], description: "a mapping, or off").read(node, reader)
        })

    package init(from decoder: any Decoder) throws {
        self = .off
        if let text = try? decoder.singleValueContainer().decode(String.self), text == "off" { return }
        let settings = try decoder.container(keyedBy: SettingName.self)
        for limit in RateLimit.allCases {
            self[limit] =
                limit.isBuiltIn
                ? limit.standardRate
                : try settings.decodeIfPresent(Rate.self, forKey: SettingName(stringValue: limit.rawValue))
        }
    }
}

extension RateLimit {
    fileprivate var standardRate: Rate {
        switch self {
        case .login: Rate(5, per: .seconds(60))
        case .refresh: Rate(30, per: .seconds(60))
        case .apple, .logout, .register, .anonymous: Rate(10, per: .seconds(60))
        case .forgotPassword: Rate(3, per: .seconds(3600))
        case .otpSend: Rate(5, per: .seconds(3600))
        case .forgotPasswordTarget, .registerTarget: Rate(10, per: .seconds(3600))
        case .otpClient, .general: Rate(300, per: .seconds(60))
        case .redirect: Rate(120, per: .seconds(60))
        case .export: Rate(20, per: .seconds(60))
        case .authorize: Rate(600, per: .seconds(60))
        case .token: Rate(120, per: .seconds(60))
        case .clientRegistration: Rate(60, per: .seconds(60))
        case .device, .userCode, .qr: Rate(10, per: .seconds(60))
        case .adminClient: Rate(1200, per: .seconds(60))
        case .adminKey: Rate(600, per: .seconds(60))
        case .adminSearch: Rate(60, per: .seconds(60))
        case .adminReveal: Rate(60, per: .seconds(3600))
        case .adminExport: Rate(10, per: .seconds(86_400))
        case .adminLift: Rate(5, per: .seconds(86_400))
        }
    }

    /// Whether the limit cannot be configured.
    ///
    /// Its rate is far above normal use and only stops floods, or it bounds how often guesses can be allowed again.
    fileprivate var isBuiltIn: Bool { self == .redirect || self == .export || self == .adminLift }

    fileprivate var help: String {
        switch self {
        case .login: "Calls that check a password, by client."
        case .refresh: "Token refreshes, by client."
        case .apple: "Sign-ins with Apple, by client."
        case .logout: "Logouts, by client."
        case .forgotPassword:
            "Requests for a password reset, and uses of the links of invitations and recoveries, by client."
        case .register: "Registrations, by client."
        case .anonymous: "New guests, by client."
        case .otpClient: "Requests for a code, by client."
        case .otpSend: "Codes sent to one address or number."
        case .forgotPasswordTarget: "Password resets sent to one address."
        case .registerTarget: "Links sent to one address to confirm a registration or a new address."
        case .redirect: "Redirect flows started, by client."
        case .export: "Exports of an account, by client."
        case .authorize:
            "Authorization requests and sign-outs that browsers bring for OpenID clients, by client network."
        case .token: "Calls of public OpenID clients and refused calls of others, by client network."
        case .clientRegistration: "Registrations of OpenID clients, by client network."
        case .device: "Requests of devices for a code (RFC 8628), by client network."
        case .userCode: "Codes of devices that people type, by client network."
        case .qr: "QR codes that are shown, and answers to them, by client network."
        case .adminClient: "Calls of the admin API, by client."
        case .adminKey: "Calls of the admin API, by service key."
        case .adminSearch: "Searches for accounts, by administrator."
        case .adminReveal: "Calls that show fields of an account unmasked, by administrator."
        case .adminExport: "Exports of accounts and of the audit, by administrator."
        case .adminLift: "Lifted locks of one address, number or client."
        case .general: "Every other route that writes or needs no bearer, each counted on its own, by client."
        }
    }
}
