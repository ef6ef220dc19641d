import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Calls that begin at fixed moments, whether or not the ones before have been answered: a server that stalls is late
/// for all of them.
struct PacedLoad: Sendable {
    let url: String
    var bearer: String?
    /// A JSON body for each call, in turn; without any it is a GET.
    var bodies: [String] = []
    let perSecond: Double

    struct Answer: Sendable {
        let status: UInt
        let retryAfter: String?
        let milliseconds: Double
        let body: String
    }

    func run(seconds: Double, client: HTTPClient) async -> [Answer] {
        let count = Int(seconds * perSecond)
        let start = ContinuousClock.now
        return await withTaskGroup(of: Answer.self) { group in
            for number in 0..<count {
                group.addTask {
                    let due = start + .seconds(Double(number) / perSecond)
                    try? await Task.sleep(until: due, tolerance: .zero, clock: .continuous)
                    return await call(number, due: due, client: client)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Status 0 where no answer came.
    private func call(_ number: Int, due: ContinuousClock.Instant, client: HTTPClient) async -> Answer {
        var request = HTTPClientRequest(url: url)
        if let bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer)") }
        if !bodies.isEmpty {
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: bodies[number % bodies.count]))
        }
        let response = try? await client.execute(request, timeout: .seconds(30))
        let body = try? await response?.body.collect(upTo: 1 << 16)
        return Answer(
            status: response?.status.code ?? 0, retryAfter: response?.headers.first(name: "Retry-After"),
            milliseconds: (ContinuousClock.now - due) / .milliseconds(1), body: body.map { String(buffer: $0) } ?? "")
    }
}

extension [PacedLoad.Answer] {
    /// How long all but one in a hundred took, in milliseconds.
    var p99: Double {
        let times = map(\.milliseconds).sorted()
        return times.isEmpty ? 0 : times[Swift.min(count - 1, count * 99 / 100)]
    }
}
