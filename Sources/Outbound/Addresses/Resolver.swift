internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import ProviderKit
internal import Synchronization

/// Resolves the addresses of hosts and caches them.
///
/// A lookup blocks a thread of the resolver's own pool. Each host has at most one lookup at a time, so that a name
/// server that does not respond blocks only one thread for each host.
final class Resolver: Sendable {
    /// Resolves a host on the calling thread, which it blocks; throws if there is no address.
    typealias LookUp = @Sendable (_ host: String) throws -> [IPAddress]

    private struct State {
        var known: [String: (addresses: [IPAddress], expires: ContinuousClock.Instant)] = [:]
        /// The lookups, each with the time until which its last caller waits.
        var lookups: [String: (answer: EventLoopFuture<[IPAddress]>, end: ContinuousClock.Instant)] = [:]
        var threads: NIOThreadPool?
        var isClosed = false
    }

    private static let threadCount = 8
    private static let capacity = 1024

    private let lookUp: LookUp
    private let lifetime: Duration
    private let loops: any EventLoopGroup
    private let state = Mutex(State())

    init(lifetime: Duration, loops: any EventLoopGroup, lookUp: @escaping LookUp) {
        self.lifetime = lifetime
        self.loops = loops
        self.lookUp = lookUp
    }

    deinit { close() }

    /// Returns the addresses of a host in the system's order of preference (RFC 6724).
    /// - Throws: `OutboundFailure.unresolvable`, also if there is no answer within the limit.
    func addresses(of host: String, within limit: Duration) async throws -> [IPAddress] {
        let loop = loops.any()
        let end = ContinuousClock.now + limit
        let answer: EventLoopFuture<[IPAddress]>? = state.withLock { state in
            if let known = state.known[host], known.expires > .now { return loop.makeSucceededFuture(known.addresses) }
            if let lookup = state.lookups[host] {
                state.lookups[host]?.end = max(lookup.end, end)
                return lookup.answer
            }
            guard !state.isClosed else { return nil }
            let threads = state.threads ?? Self.start()
            state.threads = threads
            let lookup = threads.runIfActive(eventLoop: loop) { [weak self] in
                // While it waited for a thread, all callers may have stopped waiting.
                guard let self, isAwaited(host) else { throw OutboundFailure.unresolvable }
                return try lookUp(host)
            }
            state.lookups[host] = (lookup, end)
            return lookup
        }
        guard let answer else { throw OutboundFailure.unresolvable }
        // Added outside the lock, because the callback may run at once. Each caller adds one; only the first to run has
        // an effect.
        answer.whenComplete { [weak self] result in self?.finish(host, with: result) }
        let promise = loop.makePromise(of: [IPAddress].self)
        // The answer and the timer both complete the promise, which ignores the second.
        let timer = loop.scheduleTask(in: TimeAmount(limit)) { promise.fail(OutboundFailure.unresolvable) }
        answer.cascade(to: promise)
        defer { timer.cancel() }
        guard let addresses = try? await promise.futureResult.get(), !addresses.isEmpty else {
            throw OutboundFailure.unresolvable
        }
        return addresses
    }

    func close() {
        let threads = state.withLock { state in
            state.isClosed = true
            defer { state.threads = nil }
            return state.threads
        }
        threads?.shutdownGracefully { _ in }
    }

    private func isAwaited(_ host: String) -> Bool {
        state.withLock { $0.lookups[host].map { ContinuousClock.now < $0.end } ?? false }
    }

    private func finish(_ host: String, with result: Result<[IPAddress], any Error>) {
        state.withLock { state in
            guard state.lookups.removeValue(forKey: host) != nil else { return }
            guard case .success(let addresses) = result, !addresses.isEmpty else { return }
            let now = ContinuousClock.now
            if state.known.count >= Self.capacity {
                state.known = state.known.filter { $0.value.expires > now }
                if state.known.count >= Self.capacity { state.known.removeAll() }
            }
            state.known[host] = (addresses, now + lifetime)
        }
    }

    private static func start() -> NIOThreadPool {
        let threads = NIOThreadPool(numberOfThreads: threadCount)
        threads.start()
        return threads
    }

    /// Resolves with the system's resolver, which also parses all formats of `inet_aton`, such as `127.1` and
    /// `0x7f000001`.
    static let systemLookUp: LookUp = { host in
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { throw OutboundFailure.unresolvable }
        defer { freeaddrinfo(list) }
        return sequence(first: list, next: { $0?.pointee.ai_next }).prefix { $0 != nil }.compactMap { entry in
            guard let entry = entry?.pointee, let address = entry.ai_addr else { return nil }
            switch entry.ai_family {
            case AF_INET:
                return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    withUnsafeBytes(of: $0.pointee.sin_addr) { IPAddress(networkOrder: Array($0)) }
                }
            case AF_INET6:
                return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    withUnsafeBytes(of: $0.pointee.sin6_addr) { IPAddress(networkOrder: Array($0)) }
                }
            default: return nil
            }
        }
    }
}
