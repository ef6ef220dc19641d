internal import Accounts
internal import Foundation
internal import HTTPAPI
internal import Logging
internal import Postgres
internal import ProviderKit
internal import Storage
internal import Tokens

extension Backend {
    /// The applications of a configuration as they are served, with their numbers and signing keys.
    func site(of configuration: Configuration) async throws -> Site {
        let applications = try await applications(of: configuration)
        for application in applications {
            try await keys.prepare(application)
            for provider in application.providers.idle {
                logger.warning(
                    "this version has no way to sign in with a configured provider",
                    metadata: ["application": "\(application.name)", "provider": "\(provider.name)"])
            }
        }
        let hosts = configuration.applications.flatMap { application in
            application.hosts.map { ($0, application.name) }
        }
        let proxies = configuration.server.trustedProxies
        return Site(
            applications: Dictionary(
                uniqueKeysWithValues: zip(applications, configuration.applications).map { application, configured in
                    let served = ServedApplication(
                        application: application, origins: Set(configured.origins),
                        recipients: configuration.recipients(of: configured))
                    return (application.name, served)
                }),
            hosts: Dictionary(hosts) { first, _ in first },
            defaultApplication: configuration.defaultApplication ?? "",
            ownOrigin: configuration.server.ownOrigin,
            isDevelopment: configuration.server.development,
            endsTLS: configuration.server.tls != nil,
            isTrustedProxy: { address in proxies.contains { $0.contains(address) } })
    }

    var outbox: OutboxTable { OutboxTable(database: database, sealing: sealer, arrivals: channel.outboxArrivals()) }

    func events(_ scope: DeliveryScope = .all) -> WebhookDeliveriesTable {
        WebhookDeliveriesTable(database: database, scope: scope, arrivals: channel.outboxArrivals())
    }

    /// The logger for libraries, whose notices are of no interest to an administrator.
    var quietLogger: Logger {
        var logger = logger
        logger.logLevel = .warning
        return logger
    }
}

extension Configuration.Server {
    /// Scheme, host and port of the public URL.
    fileprivate var ownOrigin: String {
        guard let start = publicURL.range(of: "://")?.upperBound else { return publicURL }
        return publicURL[..<(publicURL[start...].firstIndex(of: "/") ?? publicURL.endIndex)].lowercased()
    }
}
