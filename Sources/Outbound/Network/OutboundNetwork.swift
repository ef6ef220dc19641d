internal import AsyncHTTPClient
internal import Foundation
package import Logging
internal import NIOCore
internal import NIOSSL
package import ProviderKit
internal import Synchronization

/// The network for providers and deliveries, with one instance for the whole process.
///
/// The record of an owner (a provider of an application) has its exchanges under way and the state of its upstreams,
/// and is kept when the configuration is reloaded. No connection is opened before the first exchange.
package final class OutboundNetwork: Sendable {
    private let limits: OutboundLimits
    private let rules: CircuitBreaker.Rules
    private let resolver: Resolver
    private let clients: PinnedClients
    private let log: OutboundLog
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let now: @Sendable () -> Date
    private let records = Mutex<[OwnerRecord.Owner: OwnerRecord]>([:])

    /// Creates a network that logs nothing until `report(to:)` is called.
    package convenience init() { self.init(limits: OutboundLimits(), tls: nil) }

    init(
        limits: OutboundLimits, tls: TLSConfiguration?, rules: CircuitBreaker.Rules = .init(),
        lookUp: Resolver.LookUp? = nil, logger: Logger = Logger(label: "outbound") { _ in SwiftLogNoOpLogHandler() },
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let loops = HTTPClient.defaultEventLoopGroup
        self.limits = limits
        self.rules = rules
        resolver = Resolver(lifetime: limits.resolution, loops: loops, lookUp: lookUp ?? Resolver.systemLookUp)
        clients = PinnedClients(loops: loops, limits: limits, tls: tls)
        log = OutboundLog(logger)
        self.clock = clock
        self.now = now
    }

    /// Logs failures and changes to `logger` from now on.
    package func report(to logger: Logger) { log.replace(with: logger) }

    /// The network for one provider of one application; all its fetchers share one record.
    ///
    /// Failures are noted as findings.
    package func fetcher(
        application: String, provider: String, allowsPrivateHosts: Bool,
        findings: any FindingNoting = UnnotedFindings()
    ) -> any HTTPFetching {
        let owner = OwnerRecord.Owner(application: application, provider: provider)
        let record = records.withLock { records in
            let record =
                records[owner]
                ?? OwnerRecord(owner, concurrency: limits.concurrency, rules: rules, clock: clock, now: now)
            records[owner] = record
            return record
        }
        return OutboundFetcher(
            record: record, exchange: exchange(allowsPrivateHosts: allowsPrivateHosts), log: log, findings: findings)
    }

    /// The network for checks of providers on behalf of an administrator.
    package func probe(allowsPrivateHosts: Bool) -> any ServiceProbing {
        var limits = limits
        limits.deadline = min(limits.deadline, limits.probe)
        return OutboundProbe(
            exchange: Exchange(
                resolver: resolver, clients: clients, limits: limits, allowsPrivateHosts: allowsPrivateHosts))
    }

    /// The network for deliveries.
    package func poster(allowsPrivateHosts: Bool) -> any HTTPPosting {
        OutboundPoster(exchange: exchange(allowsPrivateHosts: allowsPrivateHosts))
    }

    /// Sends one request for a command, whose administrator has named the URL: also to private hosts and without TLS.
    ///
    /// Redirects are not followed.
    /// - Throws: `OutboundFailure`.
    package func send(_ request: FetchRequest) async throws -> FetchResponse {
        let exchange = exchange(allowsPrivateHosts: true)
        return try await exchange.once(request, to: exchange.destination(of: request))
    }

    private func exchange(allowsPrivateHosts: Bool) -> Exchange {
        Exchange(resolver: resolver, clients: clients, limits: limits, allowsPrivateHosts: allowsPrivateHosts)
    }

    /// The statistics of every owner that has a fetcher, by application and provider.
    package var statistics: [UpstreamStatistics] {
        records.withLock { Array($0.values) }.map(\.statistics)
            .sorted { ($0.application, $0.provider) < ($1.application, $1.provider) }
    }

    /// Ends all exchanges under way; later ones fail.
    package func shutdown() async {
        resolver.close()
        await clients.shutdown()
    }
}

/// The limits of each exchange and of each owner.
struct OutboundLimits: Sendable {
    /// The limit for the whole exchange, including resolution and redirects.
    var deadline: Duration = .seconds(10)
    /// The limit for a whole exchange on behalf of an administrator, who waits for several.
    var probe: Duration = .seconds(5)
    /// The limit for resolution, and for each attempt to connect.
    var connect: Duration = .seconds(3)
    /// The largest size of a response's body in bytes.
    var responseSize = 1 << 20
    /// The largest number of concurrent exchanges of one owner; further requests are refused, not queued.
    var concurrency = 128
    var redirects = 3
    /// How long addresses are cached.
    var resolution: Duration = .seconds(30)
}
