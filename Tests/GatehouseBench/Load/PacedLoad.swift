import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Calls that start at fixed times, whether or not earlier calls have been answered.
///
/// A stalled server therefore delays all calls that are due, not just one per connection.
struct PacedLoad: Sendable {
    let url: String
    var bearer: String?
    /// The bodies, used in turn.
    ///
    /// Without bodies, the calls are GET requests.
    var bodies: [String] = []
    var contentType = "application/json"
    let perSecond: Double
    /// Returns the client address to put into `X-Forwarded-For`, for the number of a call.
    var origin: (@Sendable (Int) -> String)?

    struct Answer: Sendable {
        /// The time at which the call was due to start.
        let due: ContinuousClock.Instant
        let status: UInt
        let retryAfter: String?
        let milliseconds: Double
        let body: String
    }

    func run(seconds: Double, client: HTTPClient) async -> [Answer] {
        let count = Int(seconds * perSecond)
        return await run(client: client) { $0 < count }
    }

    /// Starts calls for as long as `isWanted` returns `true` for the number of the next call.
    func run(client: HTTPClient, while isWanted: (Int) -> Bool) async -> [Answer] {
        let start = ContinuousClock.now
        return await withTaskGroup(of: Answer.self) { group in
            var number = 0
            while isWanted(number), !Task.isCancelled {
                let due = start + .seconds(Double(number) / perSecond)
                try? await Task.sleep(until: due, tolerance: .zero, clock: .continuous)
                // Each call runs in its own task, so that a slow call does not delay the next one.
                group.addTask { [number] in await call(number, due: due, client: client) }
                number += 1
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Sends one call.
    ///
    /// The status is 0 if there is no response.
    private func call(_ number: Int, due: ContinuousClock.Instant, client: HTTPClient) async -> Answer {
        var request = HTTPClientRequest(url: url)
        if let bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer)") }
        if let origin { request.headers.add(name: "X-Forwarded-For", value: origin(number)) }
        if !bodies.isEmpty {
            request.method = .POST
            request.headers.add(name: "Content-Type", value: contentType)
            request.body = .bytes(ByteBuffer(string: bodies[number % bodies.count]))
        }
        let response = try? await client.execute(request, timeout: .seconds(30))
        let body = try? await response?.body.collect(upTo: 1 << 16)
        return Answer(
            due: due, status: response?.status.code ?? 0, retryAfter: response?.headers.first(name: "Retry-After"),
            milliseconds: (ContinuousClock.now - due) / .milliseconds(1), body: body.map { String(buffer: $0) } ?? "")
    }
}

extension [PacedLoad.Answer] {
    /// The 99th percentile of the latencies, in milliseconds.
    var p99: Double { percentile(99) }

    /// The median of the latencies, in milliseconds.
    var p50: Double { percentile(50) }

    private func percentile(_ share: Int) -> Double {
        let times = map(\.milliseconds).sorted()
        return times.isEmpty ? 0 : times[Swift.min(count - 1, count * share / 100)]
    }
}

/// Runs the body with a client that has enough connections for all calls.
func withClient<Output>(
    connections: Int = 4096, _ body: (HTTPClient) async throws -> Output
) async throws -> Output {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
    let client = HTTPClient(configuration: configuration)
    do {
        let result = try await body(client)
        try await client.shutdown()
        return result
    } catch {
        try? await client.shutdown()
        throw error
    }
}
