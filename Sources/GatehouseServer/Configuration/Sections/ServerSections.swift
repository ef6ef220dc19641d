internal import Foundation
internal import MaxMind
internal import Postgres
package import ProviderKit

extension Configuration {
    package struct Server: SettingsSection, Equatable {
        package var host: String
        /// The port to listen on; 0 selects a free port.
        package var port: Int
        package var tls: TLS?
        /// The URL at which clients reach the server, without a trailing slash.
        package var publicURL: String
        package var development: Bool
        /// The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are trusted.
        package var trustedProxies: [AddressRange]
        /// `nil` if the main listener serves the admin API.
        package var admin: AdministrationListener?

        static let settings = [
            Setting("host", .text, default: "127.0.0.1", help: "The address to listen on."),
            Setting("port", .integer(0...65_535), default: "8080", help: "The port to listen on; 0 takes a free one."),
            Setting("tls", .section(TLS.self), help: "Serves HTTPS. Without it a trusted proxy has to end TLS."),
            Setting(
                "publicURL", .baseURL, required: true, derived: ownURL,
                help: """
                    Where clients reach the server. Links, redirect URIs and the issuer of tokens begin with it. \
                    Default: built from host and port if host is a loopback address.
                    """),
            Setting(
                "development", .flag, default: "false",
                help: "Accepts plain HTTP without a proxy. Only allowed if host is a loopback address."),
            Setting(
                "trustedProxies", .list(of: .addressRange), default: [],
                help: "Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are believed."),
            Setting(
                "admin", .section(AdministrationListener.self),
                help: "A listener for the admin API alone. Without it the server's own listener serves it."),
        ]

        /// The default of `publicURL` for a server on a loopback address.
        @Sendable private static func ownURL(_ server: ConfigurationNode) -> ConfigurationNode.Content? {
            // A key that is missing here was refused, and its problem has been reported.
            let (host, port) = (server["host"]?.text ?? "127.0.0.1", server["port"]?.text ?? "0")
            guard host.isLoopbackHost else { return nil }
            let scheme = server["tls"] == nil ? "http" : "https"
            return .scalar("\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)")
        }

        func validate() throws(SettingsError) {
            guard !development || host.isLoopbackHost else {
                throw SettingsError(
                    setting: "development", reason: "only allowed where server.host is a loopback address")
            }
        }
    }

    package struct TLS: SettingsSection, Equatable {
        /// The certificate chain in PEM, beginning with the server's own certificate.
        package var certificate: String
        /// The private key in PEM.
        package var key: Secret

        static let settings = [
            Setting(
                "certificate", .pem, required: true, help: "The certificate chain, the server's own certificate first."),
            Setting("key", .pem, required: true, help: "The private key of the certificate."),
        ]

        func validate() throws(SettingsError) { _ = try serverConfiguration() }
    }

    package struct Database: SettingsSection, Equatable {
        /// A `postgresql://` URL, which may contain a password.
        package var url: Secret
        package var connections: Int

        static let settings = [
            Setting(
                "url", .databaseURL, required: true,
                help: """
                    The database as a libpq URL: several hosts and TLS options are allowed. A password in it is \
                    percent-encoded.
                    """),
            Setting(
                "connections", .integer(1...1000), default: "8",
                help: "How many connections to open for statements and transactions, at least four; one more listens."),
        ]
    }

    package struct Secrets: SettingsSection, Equatable {
        /// 32 bytes in base64; the previous keys have the same form.
        package var masterKey: Secret
        package var previousMasterKeys: [Secret]

        private static let key = Form.secret("32 bytes in base64, or file:PATH") {
            Data(base64Encoded: $0)?.count == 32
        }

        static let settings = [
            Setting(
                "masterKey", key, required: true,
                help:
                    "Encrypts the key of everything sealed in the database. Create one with `openssl rand -base64 32`."),
            Setting(
                "previousMasterKeys", .list(of: key), default: [],
                help: "Master keys that `masterKey` has replaced. Keep them until the server has started once."),
        ]
    }

    package struct Network: SettingsSection, Equatable {
        /// Whether outbound calls may reach private addresses.
        package var allowPrivateHosts: Bool
        /// The path of a file in MaxMind's format.
        package var geoIP: String?

        static let settings = [
            Setting(
                "allowPrivateHosts", .flag, default: "false",
                help: """
                    Lets calls to providers, webhooks and the SMS gateway reach private addresses and plain HTTP. Clients \
                    that have registered themselves (`openid.registration`) are called there in development only.
                    """),
            Setting(
                "geoIP", .placeFile,
                help: """
                    A file in MaxMind's format, such as GeoLite2-City, that says where people are asked to sign in. It \
                    is opened at the start, and may be replaced by renaming another file.
                    """),
        ]
    }
}

extension Form {
    fileprivate static let databaseURL = secret("a postgresql:// URL, or file:PATH") { url in
        guard url.hasPrefix("postgresql://") || url.hasPrefix("postgres://") else { return false }
        try Database.Configuration(url: url).validate()
        return true
    }

    /// The path of a file that says where networks are.
    fileprivate static let placeFile = scalar("the path of a file in MaxMind's format") { text, node, reader in
        let path = reader.absolute(text)
        do throws(PlaceFile.Fault) {
            _ = try PlaceFile(path: path)
        } catch {
            reader.report(error.reason, at: node.place)
            throw Reported()
        }
        return node.with(.scalar(path))
    }
}
