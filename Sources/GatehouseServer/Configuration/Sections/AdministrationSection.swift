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

        /// The application whose accounts administrators are.
        package var application: String
        /// Where clients may be; empty for anywhere.
        package var allow: [AddressRange]
        package var serviceKeys: ServiceKeys

        static let settings =
            [
                Setting(
                    "application", .text, required: true,
                    help: "The application whose accounts administrators are. They are made by `gatehouse admin grant`."
                ),
                Setting(
                    "allow", .list(of: .addressRange), default: [],
                    help: "Where callers of the admin API may be. Others get the answer of an unknown path."),
                Setting("serviceKeys", .section(ServiceKeys.self), default: [:], help: "Limits of service keys."),
            ] + ofConsole

        /// Keys that files for a server with a console have; this version reads them and has none.
        private static let ofConsole = [
            Setting("console", .flag, default: "false", help: "Whether there is a console. This version has none."),
            Setting(
                "requireMethods", .list(of: .text), default: [],
                help: "For the console: `amr` values, of which an administrator's session must have one."),
            Setting(
                "stepUp", .positiveDuration, default: "5m",
                help: "For the console: how old the proof of an administrator may be for acts that matter most."),
            Setting("idle", .positiveDuration, default: "30m", help: "For the console: when an unused session ends."),
            Setting("lifetime", .positiveDuration, default: "12h", help: "For the console: when a session ends."),
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
