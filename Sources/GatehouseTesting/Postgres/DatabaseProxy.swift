import Foundation
import Synchronization

/// A proxy for a PostgreSQL server, which on demand fails in the ways of connection poolers and hosts.
package final class DatabaseProxy: Sendable {
    package enum Behaviour: Sendable {
        case forwarding
        /// Drops notifications and forwards everything else, like a pooler in transaction mode.
        case droppingNotifications
        /// Accepts connections and data but sends nothing, like a host that hangs; open transactions are rolled back.
        case hanging
        /// Holds all data back until the behaviour changes, like a network that loses packets for a while.
        case stalling
        /// Delivers data 30 ms late, like a distant host.
        case delaying
        /// Closes all connections at once, like a standby that is not promoted.
        case refusing
    }

    private struct State {
        var behaviour: Behaviour
        var isStopped = false
        /// The open sockets to clients, by connection number.
        var clients: [Int: Int32] = [:]
        var servers: [Int: Int32] = [:]
        var lastID = 0
    }

    package let directory: String
    /// The directory of the server's socket, or its host.
    private let host: String
    private let port: String
    private let listener: Int32
    private let state: Mutex<State>

    /// Creates a proxy; `url` names the host as a parameter, like the URLs of `TemporaryPostgres`.
    package init(before url: String, _ behaviour: Behaviour = .forwarding) throws {
        let parameters = URLComponents(string: url)?.queryItems ?? []
        guard let host = parameters.first(where: { $0.name == "host" })?.value else { throw POSIXError(.EINVAL) }
        self.host = host
        port = parameters.first { $0.name == "port" }?.value ?? Self.port
        directory = "/tmp/gatehouse-proxy-" + String(UInt64.random(in: .min ... .max), radix: 36)
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        listener = Self.socket()
        state = Mutex(State(behaviour: behaviour))
        let isListening = Self.withAddress(directory + Self.socketName) { [listener] address, length in
            bind(listener, address, length) == 0 && listen(listener, 128) == 0
        }
        guard isListening else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        Thread.detachNewThread { [self] in accept() }
    }

    private static let port = "5432"
    private static let socketName = "/.s.PGSQL.\(port)"

    /// Returns the URL with the socket directories of the proxies instead of its own host and port.
    package static func url(_ url: String, by proxies: [DatabaseProxy]) -> String {
        guard var components = URLComponents(string: url) else { return url }
        let hosts = URLQueryItem(name: "host", value: proxies.map(\.directory).joined(separator: ","))
        components.queryItems =
            [hosts] + (components.queryItems?.filter { $0.name != "host" && $0.name != "port" } ?? [])
        return components.string ?? url
    }

    package func turn(_ behaviour: Behaviour) {
        let (clients, servers) = state.withLock { state in
            state.behaviour = behaviour
            return (Array(state.clients.values), Array(state.servers.values))
        }
        switch behaviour {
        case .forwarding, .droppingNotifications, .stalling, .delaying: break
        case .hanging: servers.forEach(Self.end)
        case .refusing: (clients + servers).forEach(Self.end)
        }
    }

    /// Closes all connections and removes the socket, so that clients use the next host of their list.
    ///
    /// libpq does so only if it can't connect: a proxy that accepts a connection and closes it is the chosen host.
    package func stop() {
        let ends = state.withLock { state -> [Int32] in
            guard !state.isStopped else { return [] }
            state.isStopped = true
            return Array(state.clients.values) + Array(state.servers.values) + [listener]
        }
        ends.forEach(Self.end)
        try? FileManager.default.removeItem(atPath: directory)
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0, !state.withLock(\.isStopped) else {
                Glibc.close(client >= 0 ? client : listener)
                return
            }
            serve(client)
        }
    }

    private func serve(_ client: Int32) {
        let (id, behaviour) = state.withLock { state in
            state.lastID += 1
            state.clients[state.lastID] = client
            return (state.lastID, state.behaviour)
        }
        guard behaviour != .refusing, behaviour != .hanging, let server = connectedSocket() else {
            if behaviour != .hanging { close(id, client) }
            return
        }
        let isLate = state.withLock { state in
            state.servers[id] = server
            return state.behaviour == .refusing || state.behaviour == .hanging
        }
        if isLate { Self.end(server) }
        Thread.detachNewThread { [self] in
            pump(from: client, to: server) { bytes in
                hold()
                return Array(bytes)
            }
            Self.end(server)
        }
        Thread.detachNewThread { [self] in
            var messages = Messages()
            pump(from: server, to: client) { bytes in
                hold()
                return messages.take(bytes, droppingNotifications: behaviourNow == .droppingNotifications)
            }
            // A host that hangs does not close its clients' connections either.
            if behaviourNow != .hanging { close(id, client) }
            state.withLock { $0.servers[id] = nil }
            Glibc.close(server)
        }
    }

    /// Blocks as long as the behaviour delays data.
    private func hold() {
        if behaviourNow == .delaying { usleep(30_000) }
        while behaviourNow == .stalling, !state.withLock(\.isStopped) { usleep(5_000) }
    }

    private var behaviourNow: Behaviour { state.withLock(\.behaviour) }

    private func close(_ id: Int, _ client: Int32) {
        state.withLock { $0.clients[id] = nil }
        Self.end(client)
        Glibc.close(client)
    }

    /// Copies data until either side is closed.
    private func pump(from source: Int32, to sink: Int32, _ filter: (ArraySlice<UInt8>) -> [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(source, &buffer, buffer.count)
            guard count > 0 else { return }
            var rest = filter(buffer[..<count])[...]
            while !rest.isEmpty {
                let written = rest.withUnsafeBytes { send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard written > 0 else { return }
                rest = rest.dropFirst(written)
            }
        }
    }

    /// Connects to the server.
    private func connectedSocket() -> Int32? {
        guard !host.hasPrefix("/") else {
            let server = Self.socket()
            if Self.withAddress("\(host)/.s.PGSQL.\(port)", { connect(server, $0, $1) == 0 }) { return server }
            Glibc.close(server)
            return nil
        }
        var addresses: UnsafeMutablePointer<addrinfo>?
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        guard getaddrinfo(host, port, &hints, &addresses) == 0, let address = addresses else { return nil }
        defer { freeaddrinfo(address) }
        let server = Glibc.socket(address.pointee.ai_family, hints.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        // Further clients wait during the attempt to connect.
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(server, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if connect(server, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 {
            limit.tv_sec = 0
            setsockopt(server, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            return server
        }
        Glibc.close(server)
        return nil
    }

    private static func socket() -> Int32 {
        Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    private static func end(_ socket: Int32) { shutdown(socket, Int32(SHUT_RDWR)) }

    private static func withAddress<Value>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
    ) -> Value {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// Splits the server's data into messages: each has a type letter, a length, and the rest of the message.
private struct Messages {
    private static let notification = UInt8(ascii: "A")
    private var partial: [UInt8] = []

    /// Adds received bytes.
    /// - Returns: the messages that are now complete.
    mutating func take(_ bytes: ArraySlice<UInt8>, droppingNotifications: Bool) -> [UInt8] {
        partial += bytes
        var whole: [UInt8] = []
        var start = 0
        while partial.count >= start + 5 {
            let length = partial[(start + 1)...(start + 4)].reduce(0) { $0 << 8 | Int($1) }
            let end = start + 1 + length
            guard partial.count >= end else { break }
            if !droppingNotifications || partial[start] != Self.notification { whole += partial[start..<end] }
            start = end
        }
        partial.removeFirst(start)
        return whole
    }
}
