internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import ProviderKit

/// One request with everything that it takes: resolution, connection, redirects, and the answer up to its limit.
struct Exchange: Sendable {
    let resolver: Resolver
    let clients: PinnedClients
    let limits: OutboundLimits
    let allowsPrivateHosts: Bool

    /// Addresses that are tried where no connection is made.
    private static let attempts = 3
    private static let redirects: Set<UInt> = [301, 302, 303, 307, 308]

    /// - Throws: `OutboundFailure`; other errors only where the task was cancelled.
    func run(_ request: FetchRequest, to url: UpstreamURL) async throws -> FetchResponse {
        try await withThrowingTaskGroup(of: FetchResponse.self) { group in
            group.addTask { try await follow(request, to: url) }
            group.addTask { [limits] in
                try await Task.sleep(for: limits.deadline)
                throw OutboundFailure.timedOut
            }
            defer { group.cancelAll() }
            guard let response = try await group.next() else { throw OutboundFailure.interrupted }
            return response
        }
    }

    private func follow(_ request: FetchRequest, to url: UpstreamURL) async throws -> FetchResponse {
        var url = url
        for _ in 0...max(limits.redirects, 0) {
            let addresses = try await addresses(of: url)
            let (response, location) = try await send(request, to: url, at: addresses)
            guard (300...399).contains(response.status) else { return response }
            guard request.form == nil, Self.redirects.contains(UInt(response.status)),
                let next = location.flatMap(url.following(location:))
            else { throw OutboundFailure.redirected }
            url = next
        }
        throw OutboundFailure.redirected
    }

    private func addresses(of url: UpstreamURL) async throws -> [NetworkAddress] {
        let addresses =
            if let literal = NetworkAddress(url.host) {
                [literal]
            } else {
                try await resolver.addresses(of: url.host, within: limits.connect)
            }
        // One private address among others is a rebinding attempt, or a split horizon that nobody should rely on.
        guard allowsPrivateHosts || addresses.allSatisfy(\.isPublic) else { throw OutboundFailure.privateAddress }
        return addresses
    }

    private func send(
        _ request: FetchRequest, to url: UpstreamURL, at addresses: [NetworkAddress]
    ) async throws -> (FetchResponse, location: String?) {
        for address in Self.candidates(addresses) {
            let key = PinnedClients.Key(host: url.hostInURL, address: address.description)
            do {
                return try await clients.with(key) { client in try await send(request, to: url, by: client) }
            } catch OutboundFailure.notConnected {
                continue
            }
        }
        throw OutboundFailure.notConnected
    }

    /// The system's first choice, then the other family: where one of them is broken, it is broken altogether.
    private static func candidates(_ addresses: [NetworkAddress]) -> [NetworkAddress] {
        guard let first = addresses.first else { return [] }
        let others = addresses.dropFirst()
        let second = others.firstIndex { $0.isIPv4 != first.isIPv4 }
        let rest = others.indices.filter { $0 != second }.map { others[$0] }
        return Array(([first] + (second.map { [others[$0]] } ?? []) + rest).prefix(attempts))
    }

    private func send(
        _ request: FetchRequest, to url: UpstreamURL, by client: HTTPClient
    ) async throws -> (FetchResponse, location: String?) {
        // Were the host read otherwise here, the client would resolve it itself.
        guard let parsed = URL(string: url.text), parsed.user == nil, parsed.host.map(bare) == url.host else {
            throw OutboundFailure.invalidURL
        }
        do {
            let response = try await client.execute(outgoing(request, to: url), deadline: .distantFuture)
            return (try await read(response), response.headers.first(name: "location"))
        } catch let failure as OutboundFailure {
            throw failure
        } catch  where Self.isConnectionFailure(error) {
            throw OutboundFailure.notConnected
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
        if let form = request.encodedForm {
            outgoing.method = .POST
            outgoing.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            outgoing.body = .bytes(Array(form.utf8))
        }
        for (name, value) in request.headers where !Self.ownHeaders.contains(name.lowercased()) {
            outgoing.headers.replaceOrAdd(name: name, value: value)
        }
        return outgoing
    }

    /// What frames and routes a message is nobody else's to say.
    private static let ownHeaders: Set<String> = [
        "host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect",
    ]

    /// Returning or throwing before the end of the body closes the connection.
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

    /// Errors that occur before a request is sent alone, so that it may be sent elsewhere.
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
