import Foundation
import Logging
import NIOSSL
import ProviderKit
import Synchronization

@testable import Outbound

extension OutboundNetwork {
    /// Runs the body with a network, which is shut down even if the body throws.
    @discardableResult
    static func with<Output>(
        limits: OutboundLimits = OutboundLimits(deadline: .seconds(3)), tls: TLSConfiguration? = nil,
        rules: CircuitBreaker.Rules = .init(), lookUp: Resolver.LookUp? = nil, logger: Logger? = nil,
        clock: ManualClock? = nil, _ body: (OutboundNetwork) async throws -> Output
    ) async throws -> Output {
        let network = OutboundNetwork(
            limits: limits, tls: tls, rules: rules, lookUp: lookUp,
            logger: logger ?? Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            clock: { clock?.now ?? .now }, now: { Date(timeIntervalSince1970: 1_800_000_000) })
        do {
            let result = try await body(network)
            await network.shutdown()
            return result
        } catch {
            await network.shutdown()
            throw error
        }
    }

    func fetcher(_ provider: String = "one", isPrivate: Bool = true) -> any HTTPFetching {
        fetcher(application: "app", provider: provider, allowsPrivateHosts: isPrivate)
    }
}

extension HTTPFetching {
    /// Returns the status of the response to a GET; `nil` if there is no response.
    func status(of url: String) async -> Int? {
        try? await fetch(.get(url)).status
    }

    /// Returns whether a GET is refused or fails.
    func fails(_ url: String) async -> Bool {
        do {
            _ = try await fetch(.get(url))
            return false
        } catch {
            return error as? ProviderError == .unavailable
        }
    }
}

/// A clock that only a test advances.
final class ManualClock: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock { $0 } }

    func advance(by duration: Duration) { instant.withLock { $0 += duration } }
}

/// Records findings in order.
final class NotedFindings: FindingNoting {
    private let findings = Mutex<[ProviderFinding]>([])

    var all: [ProviderFinding] { findings.withLock { $0 } }

    func note(_ finding: ProviderFinding) { findings.withLock { $0.append(finding) } }
}
