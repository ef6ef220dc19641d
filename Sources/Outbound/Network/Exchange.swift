internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import ProviderKit
internal import Synchronization

/// Sends one request: resolves the host, connects, follows redirects, and reads the response up to its limit.
struct Exchange: Sendable {
    let resolver: Resolver
    let clients: PinnedClients
    let limits: OutboundLimits
    let allowsPrivateHosts: Bool

    /// The largest number of addresses to try until a connection succeeds.
    private static let attempts = 3
    private static let redirects: Set<UInt> = [301, 302, 303, 307, 308]

    func destination(of request: FetchRequest) throws(OutboundFailure) -> UpstreamURL {
        guard let url = UpstreamURL(request.url) else { throw .invalidURL }
        guard url.isSecure || allowsPrivateHosts else { throw .plainHTTP }
        // Checked here, because a fault of the caller is no failure of the service.
        guard request.headers.values.allSatisfy(Self.isFieldValue) else { throw .invalidHeader }
        return url
    }

    /// Whether the client sends the value of a header field: without control characters except HTAB (RFC 9110, 5.5).
    private static func isFieldValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == UInt8(ascii: "\t") || ($0 >= 0x20 && $0 != 0x7F) }
    }

    /// - Throws: `OutboundFailure`; other errors only if the task was cancelled.
    func run(_ request: FetchRequest, to url: UpstreamURL) async throws -> FetchResponse {
        try await within(limits.deadline) { try await follow(request, to: url) }
    }

    /// Resolves the host without a request.
    /// - Throws: as `run` does.
    func resolve(_ url: UpstreamURL) async throws { _ = try await addresses(of: url) }

    /// Sends the request without following redirects.
    /// - Throws: as `run` does.
    func once(_ request: FetchRequest, to url: UpstreamURL) async throws -> FetchResponse {
        try await within(limits.deadline) { try await send(outgoing(request, to: url), to: url, read) }
    }

    /// Sends the request once, closes the connection afterwards, and returns the status of the response.
    ///
    /// After the status has arrived, failures in the rest of the response are ignored: it is read only so that the
    /// server can finish normally.
    /// - Throws: as `run` does.
    func status(of request: FetchRequest, to url: UpstreamURL, within deadline: Duration) async throws -> Int {
        let received = ReceivedStatus()
        do {
            return try await within(deadline) {
                var outgoing = outgoing(request, to: url)
                outgoing.headers.add(name: "Connection", value: "close")
                return try await send(outgoing, to: url) { response in
                    let status = Int(response.status.code)
                    received.status.withLock { $0 = status }
                    _ = try await read(response)
                    return status
                }
            }
        } catch {
            guard let status = received.status.withLock({ $0 }) else { throw error }
            return status
        }
    }

    private final class ReceivedStatus: Sendable {
        let status = Mutex<Int?>(nil)
    }

    /// Runs the body, and cancels it at the deadline.
    /// - Throws: `OutboundFailure.timedOut` at the deadline.
    private func within<Output: Sendable>(
        _ deadline: Duration, _ body: @escaping @Sendable () async throws -> Output
    ) async throws -> Output {
        // Two tasks, because the first of the two to end, the body or the deadline, ends the other.
        try await withThrowingTaskGroup(of: Output.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: deadline)
                throw OutboundFailure.timedOut
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw OutboundFailure.interrupted }
            return result
        }
    }

    private func follow(_ request: FetchRequest, to url: UpstreamURL) async throws -> FetchResponse {
        var url = url
        for _ in 0...max(limits.redirects, 0) {
            let (response, location) = try await send(outgoing(request, to: url), to: url) { response in
                (try await read(response), response.headers.first(name: "location"))
            }
            guard (300...399).contains(response.status) else { return response }
            guard request.content == nil, Self.redirects.contains(UInt(response.status)),
                let next = location.flatMap(url.following(location:))
            else { throw OutboundFailure.redirected }
            url = next
        }
        throw OutboundFailure.redirected
    }

    private func addresses(of url: UpstreamURL) async throws -> [IPAddress] {
        let addresses =
            if let literal = IPAddress(url.host) {
                [literal]
            } else {
                try await resolver.addresses(of: url.host, within: limits.connect)
            }
        // A private address among public ones is a sign of DNS rebinding, or of split-horizon DNS, which is not
        // supported.
        guard allowsPrivateHosts || addresses.allSatisfy(\.isPublic) else { throw OutboundFailure.privateAddress }
        return addresses
    }

    private func send<Output>(
        _ request: HTTPClientRequest, to url: UpstreamURL, _ read: (HTTPClientResponse) async throws -> Output
    ) async throws -> Output {
        for address in Self.candidates(try await addresses(of: url)) {
            let key = PinnedClients.Key(host: url.hostInURL, address: address.description)
            do {
                return try await clients.with(key) { client in try await send(request, to: url, by: client, read) }
            } catch OutboundFailure.notConnected {
                continue
            }
        }
        throw OutboundFailure.notConnected
    }

    /// The addresses to try: first the system's first choice, then one of the other IP version, because often all
    /// addresses of one version fail.
    private static func candidates(_ addresses: [IPAddress]) -> [IPAddress] {
        guard let first = addresses.first else { return [] }
        let others = addresses.dropFirst()
        let second = others.firstIndex { $0.isIPv4 != first.isIPv4 }
        let rest = others.indices.filter { $0 != second }.map { others[$0] }
        return Array(([first] + (second.map { [others[$0]] } ?? []) + rest).prefix(attempts))
    }

    private func send<Output>(
        _ request: HTTPClientRequest, to url: UpstreamURL, by client: HTTPClient,
        _ read: (HTTPClientResponse) async throws -> Output
    ) async throws -> Output {
        // The client must parse the same host from the URL; otherwise it would resolve another host itself.
        guard let parsed = URL(string: url.text), parsed.user == nil, parsed.host.map(bare) == url.host else {
            throw OutboundFailure.invalidURL
        }
        do {
            return try await read(try await client.execute(request, deadline: .distantFuture))
        } catch let failure as OutboundFailure {
            throw failure
        } catch  where Self.isConnectionFailure(error) {
            throw OutboundFailure.notConnected
        } catch  where Self.isTLSFailure(error) {
            throw OutboundFailure.untrusted
        } catch {
            try Task.checkCancellation()
            throw OutboundFailure.interrupted
        }
    }

    private func bare(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    private func outgoing(_ request: FetchRequest, to url: UpstreamURL) -> HTTPClientRequest {
        var outgoing = HTTPClientRequest(url: url.text)
        outgoing.headers.add(name: "Accept", value: "application/json")
        outgoing.headers.add(name: "User-Agent", value: "Gatehouse")
        if let (type, bytes) = request.content {
            outgoing.method = .POST
            outgoing.headers.add(name: "Content-Type", value: type)
            outgoing.body = .bytes(bytes)
        }
        if let method = request.method { outgoing.method = HTTPMethod(rawValue: method) }
        for (name, value) in request.headers where !Self.ownHeaders.contains(name.lowercased()) {
            outgoing.headers.replaceOrAdd(name: name, value: value)
        }
        return outgoing
    }

    /// Headers for framing and routing, which callers cannot set.
    private static let ownHeaders: Set<String> = [
        "host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect",
    ]

    /// Reads the body up to the limit; if reading stops early, the connection is closed.
    private func read(_ response: HTTPClientResponse) async throws -> FetchResponse {
        if let length = response.headers.first(name: "content-length").flatMap(Int.init), length > limits.responseSize {
            throw OutboundFailure.tooLarge
        }
        var body: [UInt8] = []
        for try await part in response.body {
            guard body.count + part.readableBytes <= limits.responseSize else { throw OutboundFailure.tooLarge }
            body.append(contentsOf: part.readableBytesView)
        }
        let headers = Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" }
        return FetchResponse(status: Int(response.status.code), headers: headers, body: body)
    }

    /// Whether the handshake failed or the certificate is not valid for the host.
    private static func isTLSFailure(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .tlsHandshakeTimeout
        case let error as NIOSSLError: if case .uncleanShutdown = error { false } else { true }
        default: error is NIOSSLExtraError
        }
    }

    /// Whether the error occurred before the request was sent, so that another address may be tried.
    private static func isConnectionFailure(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .connectTimeout
        case let error as ChannelError: if case .connectTimeout = error { true } else { false }
        case let error as IOError:
            [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, ETIMEDOUT].contains(error.errnoCode)
        default: false
        }
    }
}
