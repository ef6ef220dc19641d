package import ProviderKit

extension Configuration {
    /// The section `admin`: who may call the admin API, and from where.
    package struct Administration: SettingsSection, Equatable {
        /// Limits of service keys.
        package struct ServiceKeys: SettingsSection, Equatable {
            package var longest: Duration

            static let settings = [
                Setting("longest", .positiveDuration, default: "365d", help: "The longest lifetime of a service key.")
            ]
        }

        /// The application that has the administrators' accounts.
        package var application: String
        /// Where clients may be; empty for anywhere.
        package var allow: [AddressRange]
        package var serviceKeys: ServiceKeys
        package var console: Bool
        package var requireMethods: [String]
        package var stepUp, idle, lifetime: Duration

        static let settings =
            [
                Setting(
                    "application", .text, required: true,
                    help: "The application of the accounts that `gatehouse admin grant` makes administrators."
                ),
                Setting(
                    "allow", .list(of: .addressRange), default: [],
                    help: "Where callers of the admin API may be. Others get the answer of an unknown path."),
                Setting("serviceKeys", .section(ServiceKeys.self), default: [:], help: "Limits of service keys."),
                Setting(
                    "console", .flag, default: "false",
                    help: "Whether there is a console, at `/console`. Needs `openid` in the application."),
                Setting(
                    "requireMethods", .list(of: .text), default: [],
                    help: """
                        `amr` values, of which an administrator's session at the console must have one: `pwd`, `otp` \
                        (a code, whatever sent it), `sms` or `qr`. A sign-in by another provider counts as `fed`, \
                        whatever that provider calls it.
                        """),
                Setting(
                    "stepUp", .positiveDuration, default: "5m",
                    help: "How old the proof of an administrator may be for acts that matter most."),
                Setting(
                    "idle", .positiveDuration, default: "30m",
                    help: "How long a session at the console may stay unused before a new proof is asked for."),
                Setting("lifetime", .positiveDuration, default: "12h", help: "When a session at the console ends."),
            ]
    }

    /// A listener for the admin API alone.
    package struct AdministrationListener: SettingsSection, Equatable {
        package var host: String
        package var port: Int
        package var publicURL: String?
        package var tls: TLS?

        static let settings = [
            Setting("host", .text, default: "127.0.0.1", help: "The address to listen on."),
            Setting("port", .integer(0...65_535), required: true, help: "The port to listen on; 0 takes a free one."),
            Setting("publicURL", .baseURL, help: "Where administrators reach this listener."),
            Setting("tls", .section(TLS.self), help: "Serves HTTPS. Without it a trusted proxy has to end TLS."),
        ]
    }
}
