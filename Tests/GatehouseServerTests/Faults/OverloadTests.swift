import Foundation
import NIOHTTP1
import Synchronization
import Testing

@testable import GatehouseServer

/// Twice as many requests as the server can answer, for ten minutes.
@Suite(.serialized, .longMode) struct OverloadTests {
    /// How long the overload lasts.
    private static let duration = Duration.seconds(
        ProcessInfo.processInfo.environment["GATEHOUSE_OVERLOAD_SECONDS"].flatMap(Int.init) ?? 600)
    /// The number of concurrent requests by which the capacity is measured.
    private static let width = 16
    /// The client's own limit of requests without a response.
    private static let outstanding = 512

    @Test func `at twice its capacity a server answers or refuses, and keeps what it acknowledged`() async throws {
        try await FaultServers.with { servers in
            let flood = Flood(client: servers.first.client)
            let capacity = try await flood.measure(width: Self.width, for: .seconds(5))
            let load = servers.load()
            try await load.run(resumingWithin: .seconds(30)) {
                let process = try #require(servers.first.process)
                let early = Mutex(0)
                try await flood.run(atRate: capacity * 2, limit: Self.outstanding, for: Self.duration) { share in
                    if share < 0.25 { early.withLock { $0 = max($0, Self.memory(of: process.id)) } }
                }
                let (start, end) = (early.withLock { $0 }, Self.memory(of: process.id))
                print("capacity \(Int(capacity))/s; \(flood.tally); memory \(start) then \(end) MB")
                #expect(flood.tally.oddities.isEmpty, "\(flood.tally.oddities.prefix(8))")
                #expect(end < start * 3 / 2 + 64, "memory does not grow with time")
            }
            try await servers.verify(load.journal.entries)
        }
    }

    /// The resident memory in MB.
    private static func memory(of process: pid_t) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096 / 1_048_576
    }
}

/// Guests who sign in at a given rate.
private final class Flood: Sendable {
    struct Tally: CustomStringConvertible {
        var served = 0
        var refused = 0
        var waiting = 0
        /// Requests that were not sent, because too many had no response yet.
        var skipped = 0
        var slowest: Duration = .zero
        var oddities: [String] = []

        var description: String {
            "served \(served), refused \(refused), not sent \(skipped), slowest \(slowest.milliseconds) ms"
        }
    }

    private let client: APIClient
    private let state = Mutex(Tally())

    init(client: APIClient) { self.client = client }

    var tally: Tally { state.withLock { $0 } }

    /// Returns the number of requests in a second that so many clients get answered.
    func measure(width: Int, for duration: Duration) async throws -> Double {
        let end = ContinuousClock.now + duration
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    while .now < end { try await self.send() }
                }
            }
            try await group.waitForAll()
        }
        return Double(tally.served) / (duration / .seconds(1))
    }

    /// Sends requests at the rate and calls `observe` every tick with the share of the duration that has passed.
    func run(
        atRate rate: Double, limit: Int, for duration: Duration, _ observe: (Double) -> Void
    ) async throws {
        let (start, tick) = (ContinuousClock.now, Duration.milliseconds(20))
        try await withThrowingDiscardingTaskGroup { group in
            var sent = 0
            while case let elapsed = ContinuousClock.now - start, elapsed < duration {
                let due = Int(rate * (elapsed / .seconds(1)))
                for _ in sent..<max(sent, due) {
                    let isFree = state.withLock { tally in
                        let isFree = tally.waiting < limit
                        if isFree { tally.waiting += 1 } else { tally.skipped += 1 }
                        return isFree
                    }
                    guard isFree else { continue }
                    group.addTask {
                        try await self.send()
                        self.state.withLock { $0.waiting -= 1 }
                    }
                }
                sent = max(sent, due)
                observe(elapsed / duration)
                try await Task.sleep(for: tick)
            }
        }
    }

    private func send() async throws {
        let start = ContinuousClock.now
        let outcome: Result<APIClient.Answer, any Error>
        do { outcome = .success(try await client.post("/auth/anonymous")) } catch { outcome = .failure(error) }
        let elapsed = ContinuousClock.now - start
        state.withLock { tally in
            tally.slowest = max(tally.slowest, elapsed)
            switch outcome {
            case .success(let answer) where answer.status == 200: tally.served += 1
            case .success(let answer) where answer.isWellFormedRefusal: tally.refused += 1
            case .success(let answer): tally.oddities.append("\(answer.status) \(answer.text)")
            case .failure(let error): tally.oddities.append("\(error)")
            }
        }
    }
}
