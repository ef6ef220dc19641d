internal import AsyncHTTPClient
internal import NIOCore
internal import NIOSSL
internal import Synchronization

/// A pool of HTTP clients, each of which can reach only one host at one address.
///
/// The client connects to the address that was checked instead of resolving the host. SNI, the certificate's name and
/// `Host` still use the host's name.
final class PinnedClients: Sendable {
    struct Key: Hashable {
        /// The host in the client's format: IPv6 addresses have brackets.
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
    /// Clients are closed after this time without use, for example after their host has moved.
    private static let idleLimit: Duration = .seconds(300)

    private let loops: any EventLoopGroup
    private let limits: OutboundLimits
    private let tls: TLSConfiguration
    private let state = Mutex(State())

    /// If `tls` is `nil`, the system's certificate authorities are trusted.
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

    func with<Output>(_ key: Key, _ body: (HTTPClient) async throws -> Output) async throws -> Output {
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

    /// Returns the client for a key, and idle clients to close.
    ///
    /// Clients in use are never closed; their number is limited by the number of exchanges under way.
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

    private func release(_ key: Key) { state.withLock { $0.slots[key]?.users -= 1 } }

    private func makeClient(_ key: Key) -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // With an override, the client would check the certificate for the literal in its brackets.
        if !key.host.hasPrefix("[") { configuration.dnsOverride = [key.host: key.address] }
        configuration.tlsConfiguration = tls
        configuration.timeout.connect = TimeAmount(limits.connect)
        // One exchange per connection: a stream that stalls does not delay others.
        configuration.httpVersion = .http1Only
        // Concurrency is limited per owner; the pool must not let owners block each other.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1024
        configuration.connectionPool.idleTimeout = .seconds(15)
        // `Exchange` tries the next address instead.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .shared(loops), configuration: configuration)
    }
}
