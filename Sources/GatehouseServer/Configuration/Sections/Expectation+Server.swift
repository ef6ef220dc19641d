import Foundation
import ProviderKit

extension Expectation<Configuration.Server> {
    static var server: Self {
        .table { table in
            let host = table.read("host", .text, default: "127.0.0.1")
            let port = table.read("port", .integer(0...65_535), default: 8080)
            let publicURL = publicURL(table, host: host, port: port)
            let development = table.read("development", .flag, default: false)
            let trustedProxies = table.read("trustedProxies", .list(of: .addressRange), default: [])
            let tls = table.optional("tls", .tls)
            if development, !host.isLoopbackHost {
                table.report("only allowed where server.host is a loopback address", at: "development")
            }
            return publicURL.map { publicURL in
                Configuration.Server(
                    host: host, port: port, publicURL: publicURL, development: development,
                    trustedProxies: trustedProxies, tls: tls)
            }
        }
    }

    /// A server that only its own machine reaches knows where that is; any other has to be told.
    private static func publicURL(_ table: Table, host: String, port: Int) -> String? {
        guard !table.has("publicURL"), host.isLoopbackHost else { return table.required("publicURL", .baseURL) }
        let scheme = table.has("tls") ? "https" : "http"
        return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

extension Expectation<Configuration.TLS> {
    fileprivate static var tls: Self {
        .table { table in
            let certificate = table.required("certificate", .pem)
            let key = table.required("key", .pem)
            guard let certificate, let key else { return nil }
            return Configuration.TLS(certificate: certificate, key: Secret(key))
        }
    }
}

extension Expectation<Configuration.Database> {
    static var database: Self {
        .table { table in
            let url = table.required("url", .databaseURL)
            let connections = table.read("connections", .integer(1...1000), default: 8)
            return url.map { Configuration.Database(url: $0, connections: connections) }
        }
    }
}

extension Expectation<Configuration.Secrets> {
    static var secrets: Self {
        .table { table in
            let masterKey = table.required("masterKey", .masterKey)
            let previous = table.read("previousMasterKeys", .list(of: .masterKey), default: [])
            return masterKey.map { Configuration.Secrets(masterKey: $0, previousMasterKeys: previous) }
        }
    }
}

extension Expectation<Configuration.Network> {
    static var network: Self {
        .table { table in
            Configuration.Network(allowPrivateHosts: table.read("allowPrivateHosts", .flag, default: false))
        }
    }
}

extension Expectation<Secret> {
    /// libpq understands more; what isn't a URL is refused, as a typing error would be.
    fileprivate static var databaseURL: Self {
        .secret("a postgresql:// URL", where: { $0.hasPrefix("postgresql://") || $0.hasPrefix("postgres://") })
    }

    fileprivate static var masterKey: Self {
        .secret("32 bytes in base64, or file:PATH", where: { Data(base64Encoded: $0)?.count == 32 })
    }
}
