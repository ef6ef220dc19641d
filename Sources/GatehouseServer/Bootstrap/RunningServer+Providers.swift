internal import Accounts
internal import Foundation
internal import HTTPAPI
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

extension RunningServer {
    /// Follows the switches of providers, and warns of secrets that expire.
    var providerServices: [any Service] {
        let logger = backend.logger
        let expiry = SecretExpiryLog(logger: logger)
        return [
            SwitchService(switches: switches),
            RepeatedService(
                every: .milliseconds(500), failure: "Switches of providers can't be read for now", logger: logger
            ) { [switches] in try await switches.tend() },
            RepeatedService(
                every: .seconds(1), failure: "Accounts that a switch concerns wait", logger: logger
            ) { [switches] in try await switches.work() },
            RepeatedService(
                every: .seconds(600), startsWithPause: false, failure: "Expiring secrets can't be logged for now",
                logger: logger
            ) { [site] in expiry.report(site.configured, now: Date()) },
        ]
    }
}

/// Logs once a day which secrets of providers expire soon.
final class SecretExpiryLog: Sendable {
    /// How long before the day it is logged.
    static let notice: TimeInterval = 30 * 86_400
    private let logger: Logger
    /// The day of the last line of each provider, in days since the epoch.
    private let lastDays = Mutex<[String: Int]>([:])

    init(logger: Logger) { self.logger = logger }

    func report(_ site: Site, now: Date) {
        let today = Int((now.timeIntervalSince1970 / 86_400).rounded(.down))
        for application in site.applications.values.map(\.application) {
            for provider in application.providers.all {
                guard let day = provider.declaration.secretExpires, day <= now.addingTimeInterval(Self.notice) else {
                    continue
                }
                let name = "\(application.name)/\(provider.name)"
                guard lastDays.withLock({ $0.updateValue(today, forKey: name) }) != today else { continue }
                logger.warning(
                    day > now ? "a provider's secret expires soon" : "a provider's secret has expired",
                    metadata: [
                        "application": "\(application.name)", "provider": "\(provider.name)",
                        "secretExpires": "\(Timestamp(day).text.prefix(10))",
                    ])
            }
        }
    }
}
