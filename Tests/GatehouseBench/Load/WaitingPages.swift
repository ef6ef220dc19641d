import Accounts
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Postgres
import ProviderKit
import Storage

/// Browsers that show QR codes and wait until a phone answers, over a connection each.
struct WaitingPages: Sendable {
    /// How many pages connect in a second.
    private static let perSecond = 500.0
    private static let patience = Duration.seconds(60)
    /// The share of the pages that wait at any time; the others are between two calls.
    private static let share = 0.95

    let server: ServerProcess
    private let url: String
    private let numbers: ClosedRange<Int64>

    /// Stores the requests and codes of the pages.
    init(_ count: Int, at server: ServerProcess, on stage: Stage) async throws {
        self.server = server
        url = server.url(stage.path(of: stage.es256))
        numbers = try await stage.seeder.showCodes(count, in: stage.es256)
    }

    /// Runs the body while the pages wait.
    /// - Returns: the body's value, and the number of calls that were not answered with a state.
    func waiting<Value: Sendable>(_ body: () async throws -> Value) async throws -> (value: Value, failures: Int) {
        try await withClient(connections: numbers.count) { client in
            try await withThrowingTaskGroup(of: Int.self) { group in
                let start = ContinuousClock.now
                for (index, number) in numbers.enumerated() {
                    let due = start + .seconds(Double(index) / Self.perSecond)
                    group.addTask {
                        try? await Task.sleep(until: due, clock: .continuous)
                        return await wait(number, client: client)
                    }
                }
                try await allWait()
                let value = try await body()
                group.cancelAll()
                return (value, try await group.reduce(0, +))
            }
        }
    }

    /// Calls like the page's script until the task is cancelled.
    private func wait(_ number: Int64, client: HTTPClient) async -> Int {
        let text = RelyingParty.text(number)
        var request = HTTPClientRequest(url: "\(url)/signin/\(text)/qr?after=waiting")
        request.headers.add(name: "Cookie", value: "gatehouse-browser-es256=\(text)")
        // The public address; elsewhere, the pages are not served.
        request.headers.add(name: "Host", value: "127.0.0.1:1")
        var failures = 0
        while !Task.isCancelled {
            let response = try? await client.execute(request, timeout: .seconds(60))
            let body = try? await response?.body.collect(upTo: 1 << 16)
            guard !Task.isCancelled else { break }
            guard response?.status != .ok || body == nil else { continue }
            failures += 1
            try? await Task.sleep(for: .seconds(3))
        }
        return failures
    }

    private func allWait() async throws {
        let wanted = Int(Double(numbers.count) * Self.share)
        let deadline = ContinuousClock.now + .seconds(Double(numbers.count) / Self.perSecond) + Self.patience
        var waiting = 0
        while .now < deadline {
            waiting = try await waitingNow()
            if waiting >= wanted { return }
            try await Task.sleep(for: .milliseconds(500))
        }
        throw BenchError("only \(waiting) of \(numbers.count) pages wait")
    }

    /// How many pages wait, as the server's metrics say.
    private func waitingNow() async throws -> Int {
        let response = try await HTTPClient.shared.execute(
            HTTPClientRequest(url: server.url("/metrics")), timeout: .seconds(30))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 22))
        guard let match = text.firstMatch(of: /\ngatehouse_handoffs_waiting ([0-9.]+)/), let count = Double(match.1)
        else { throw BenchError("the metrics do not say how many pages wait") }
        return Int(count)
    }
}

extension Seeder {
    /// A page's request, the cookie of its browser and its code have the same number.
    private static let insertCodes = Statement(
        .write,
        """
        WITH page AS MATERIALIZED (
            SELECT n, sha256(decode(lpad(to_hex(n), 64, '0'), 'hex')) AS hash
              FROM generate_series($2::int8, $3::int8) AS n
        ), request AS (
            INSERT INTO authorization_requests
                   (application_id, hash, client_id, issuer, sealed, browser_hash, expires_at)
            SELECT $1, hash, $4, $5, '', hash, now() + interval '1 hour' FROM page
        )
        INSERT INTO handoffs (application_id, hash, kind, id, client_id, issuer, request_hash, sealed, expires_at)
        SELECT $1, hash, 'qr', gen_random_uuid(), $4, $5, hash, '', now() + interval '1 hour' FROM page
        """)

    /// Stores requests whose pages show a code, and returns the numbers of their cookies.
    fileprivate func showCodes(_ count: Int, in application: Application) async throws -> ClosedRange<Int64> {
        let numbers = Owners.newNumbers(count)
        let binds: [Bind] = [
            .application(application.id), .int(Int(numbers.lowerBound)), .int(Int(numbers.upperBound)),
            .text(RelyingParty.client), .text(application.issuer),
        ]
        guard try await database.execute(Self.insertCodes, binds).affected == count else {
            throw BenchError("codes are missing")
        }
        return numbers
    }
}
