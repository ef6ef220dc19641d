internal import AsyncHTTPClient
internal import NIOCore
internal import NIOSSL
internal import Synchronization

/// HTTP clients, each of which can reach one host at one address only.
///
/// The client's own resolution is overridden with the address that was checked; the server's name for SNI, for its
/// certificate and for `Host` remains the host.
final class PinnedClients: Sendable {
    struct Key: Hashable {
        /// As the client spells it: of IPv6 in brackets.
        let host: String
        let address: String
    }

    private struct Slot {
        let client: HTTPClient
        var users = 0
        var lastUse: ContinuousClock.Instant
    }

    private struct State {
        var slots: [Key: Slot] = [:]
        var isClosed = false
    }

    private static let capacity = 64
    /// A host that moved leaves a client behind.
    private static let idleLimit: Duration = .seconds(300)

    private let loops: any EventLoopGroup
    private let limits: OutboundLimits
    private let tls: TLSConfiguration
    private let state = Mutex(State())

    /// Without a TLS configuration, the system's certificate authorities count.
    init(loops: any EventLoopGroup, limits: OutboundLimits, tls: TLSConfiguration?) {
        self.loops = loops
        self.limits = limits
        var tls = tls ?? .makeClientConfiguration()
        // Older versions are deprecated (RFC 8996).
        tls.minimumTLSVersion = .tlsv12
        self.tls = tls
    }

    deinit {
        for slot in state.withLock({ $0.slots.values.map { $0 } }) { slot.client.shutdown { _ in } }
    }

    func with<Result>(_ key: Key, _ body: (HTTPClient) async throws -> Result) async throws -> Result {
        let (client, superfluous) = try acquire(key)
        for client in superfluous { client.shutdown { _ in } }
        defer { release(key) }
        return try await body(client)
    }

    func shutdown() async {
        let clients = state.withLock { state in
            state.isClosed = true
            defer { state.slots = [:] }
            return state.slots.values.map(\.client)
        }
        for client in clients { try? await client.shutdown() }
    }

    /// Clients that somebody uses are never superfluous; their number is bounded by the exchanges under way.
    private func acquire(_ key: Key) throws -> (HTTPClient, superfluous: [HTTPClient]) {
        let now = ContinuousClock.now
        return try state.withLock { state in
            guard !state.isClosed else { throw OutboundFailure.shutDown }
            var superfluous: [HTTPClient] = []
            if state.slots[key] == nil {
                let idle = state.slots.filter { $0.value.users == 0 }.sorted { $0.value.lastUse < $1.value.lastUse }
                var excess = state.slots.count + 1 - Self.capacity
                for (key, slot) in idle where excess > 0 || slot.lastUse + Self.idleLimit < now {
                    superfluous.append(slot.client)
                    state.slots[key] = nil
                    excess -= 1
                }
            }
            var slot = state.slots[key] ?? Slot(client: makeClient(key), lastUse: now)
            slot.users += 1
            slot.lastUse = now
            state.slots[key] = slot
            return (slot.client, superfluous)
        }
    }

    private func release(_ key: Key) {
        state.withLock { $0.slots[key]?.users -= 1 }
    }

    private func makeClient(_ key: Key) -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.dnsOverride = [key.host: key.address]
        configuration.tlsConfiguration = tls
        configuration.timeout.connect = TimeAmount(limits.connect)
        // One connection for one exchange at a time: a stream that stalls can't hold up others.
        configuration.httpVersion = .http1Only
        // Bulkheads are the owners'; the pool must not be one between them.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1024
        configuration.connectionPool.idleTimeout = .seconds(15)
        // The next address is tried instead.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .shared(loops), configuration: configuration)
    }
}
