internal import Accounts
internal import Foundation
internal import HTTPAPI
internal import Logging
internal import Postgres
internal import ProviderKit
internal import Storage
internal import Tokens

extension Backend {
    /// The site that a configuration describes, its applications numbered and their keys at hand.
    func site(of configuration: Configuration) async throws -> Site {
        let applications = try await applications(of: configuration)
        for application in applications {
            try await keys.prepare(application)
            for provider in application.providers.idle {
                logger.warning(
                    "This version can't sign anybody in with a configured provider yet",
                    metadata: ["application": "\(application.name)", "provider": "\(provider.name)"])
            }
        }
        let origins = Dictionary(uniqueKeysWithValues: configuration.applications.map { ($0.name, Set($0.origins)) })
        let recipients = Dictionary(
            uniqueKeysWithValues: configuration.applications.map { ($0.name, configuration.recipients(of: $0)) })
        let hosts = configuration.applications.flatMap { application in
            application.hosts.map { ($0, application.name) }
        }
        let proxies = configuration.server.trustedProxies
        return Site(
            applications: Dictionary(
                uniqueKeysWithValues: applications.map { application in
                    let served = ServedApplication(
                        application: application, origins: origins[application.name] ?? [],
                        recipients: recipients[application.name] ?? [])
                    return (application.name, served)
                }),
            hosts: Dictionary(hosts) { first, _ in first },
            defaultApplication: configuration.defaultApplication ?? "",
            ownOrigin: configuration.server.ownOrigin,
            isDevelopment: configuration.server.development,
            endsTLS: configuration.server.tls != nil,
            isTrustedProxy: { address in proxies.contains { $0.contains(address) } })
    }

    var outbox: OutboxTable {
        OutboxTable(database: database, sealing: sealer, arrivals: channel.outboxArrivals())
    }

    func events(_ scope: DeliveryScope = .all) -> WebhookDeliveriesTable {
        WebhookDeliveriesTable(database: database, scope: scope, arrivals: channel.outboxArrivals())
    }

    /// Libraries tell more than an admin wants to read.
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
