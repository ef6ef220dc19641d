import AsyncHTTPClient
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

    @Test func `at twice its capacity a server answers or refuses, and keeps what it acknowledged`() async throws {
        try await FaultServers.with { servers in
            let url = servers.first.client.url
            let guests = Flood(of: "guests", url: url, answer: 200) { try await $0.post("/auth/anonymous") }
            // The server hashes the password also if there is no such account.
            let passwords = Flood(of: "passwords", url: url, answer: 401) { try await $0.login(APIClient.newAddress()) }
            async let isMeasured: Void = guests.measure(for: .seconds(5))
            try await passwords.measure(for: .seconds(5))
            try await isMeasured
            let load = servers.load()
            try await load.run {
                let process = try #require(servers.first.process)
                async let isOver: Void = passwords.run(for: Self.duration)
                let early = Mutex(0)
                try await guests.run(for: Self.duration) { share in
                    if share < 0.25 { early.withLock { $0 = max($0, Self.memory(of: process.id)) } }
                }
                try await isOver
                let (start, end) = (early.withLock { $0 }, Self.memory(of: process.id))
                print("\(guests); \(passwords); memory \(start) then \(end) MB")
                for flood in [guests, passwords] {
                    let oddities = flood.tally.oddities
                    #expect(flood.tally.served > 0)
                    #expect(oddities.isEmpty, "\(oddities.count): \(oddities.prefix(8))")
                }
                // The queue of passwords is limited by time, so that a part is refused on any machine.
                #expect(passwords.tally.refused > 0)
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

/// Clients that send one kind of request at twice the rate at which it is answered.
private final class Flood: Sendable, CustomStringConvertible {
    struct Tally {
        /// The requests that the server answers in a second.
        var capacity = 0.0
        var served = 0
        var refused = 0
        var waiting = 0
        /// Requests that were not sent, because too many had no response yet.
        var skipped = 0
        var slowest: Duration = .zero
        var oddities: [String] = []
    }

    /// The number of concurrent requests by which the capacity is measured.
    private static let width = 16
    /// The largest number of requests without a response.
    private static let mostWaiting = 2048
    /// With a connection for each request that waits, because the client's own queue would hide the server's.
    private static let http: HTTPClient = {
        var configuration = APIClient.configuration
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 2 * mostWaiting
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    private let name: String
    private let client: APIClient
    private let answer: Int
    private let call: @Sendable (APIClient) async throws -> APIClient.Answer
    private let state = Mutex(Tally())

    /// `answer` is the status of a response that is not a refusal.
    init(
        of name: String, url: String, answer: Int,
        _ call: @escaping @Sendable (APIClient) async throws -> APIClient.Answer
    ) {
        self.name = name
        client = APIClient(url: url, http: Self.http)
        self.answer = answer
        self.call = call
    }

    var tally: Tally { state.withLock { $0 } }

    var description: String {
        let tally = tally
        return """
            \(name): capacity \(Int(tally.capacity))/s, served \(tally.served), refused \(tally.refused), \
            not sent \(tally.skipped), slowest \(tally.slowest.milliseconds) ms
            """
    }

    /// Measures the capacity with a few clients that send one request after the other.
    func measure(for duration: Duration) async throws {
        let end = ContinuousClock.now + duration
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.width {
                group.addTask {
                    while .now < end { try await self.send() }
                }
            }
            try await group.waitForAll()
        }
        state.withLock { $0.capacity = Double($0.served) / (duration / .seconds(1)) }
    }

    /// Sends twice as many requests as get answered, and calls `observe` every tick with the share of the duration that
    /// has passed.
    ///
    /// The capacity is measured again every few seconds, because other work on the machine changes it.
    func run(for duration: Duration, _ observe: (Double) -> Void = { _ in }) async throws {
        let (start, tick) = (ContinuousClock.now, Duration.milliseconds(20))
        try await withThrowingDiscardingTaskGroup { group in
            var (capacity, due, latest) = (tally.capacity, 0.0, start)
            var measured = (at: start, served: tally.served)
            while case let now = ContinuousClock.now, now - start < duration {
                if now - measured.at >= .seconds(5) {
                    let served = tally.served
                    capacity = max(1, Double(served - measured.served) / ((now - measured.at) / .seconds(1)))
                    state.withLock { $0.capacity = capacity }
                    measured = (now, served)
                }
                due += 2 * capacity * ((now - latest) / .seconds(1))
                latest = now
                // A client gives up after some seconds, so no more requests wait than are answered in that time.
                let limit = min(Self.mostWaiting, max(16, Int(capacity * 5)))
                while due >= 1 {
                    due -= 1
                    guard admits(upTo: limit) else { continue }
                    group.addTask {
                        try await self.send()
                        self.state.withLock { $0.waiting -= 1 }
                    }
                }
                observe((now - start) / duration)
                try await Task.sleep(for: tick)
            }
        }
    }

    private func admits(upTo limit: Int) -> Bool {
        state.withLock { tally in
            let isFree = tally.waiting < limit
            if isFree { tally.waiting += 1 } else { tally.skipped += 1 }
            return isFree
        }
    }

    private func send() async throws {
        let start = ContinuousClock.now
        let outcome: Result<APIClient.Answer, any Error>
        do { outcome = .success(try await call(client)) } catch { outcome = .failure(error) }
        let elapsed = ContinuousClock.now - start
        state.withLock { tally in
            tally.slowest = max(tally.slowest, elapsed)
            switch outcome {
            case .success(let answer) where answer.status == self.answer: tally.served += 1
            case .success(let answer) where answer.isWellFormedRefusal: tally.refused += 1
            case .success(let answer): tally.oddities.append("\(answer.status) \(answer.text)")
            case .failure(let error): tally.oddities.append("\(error)")
            }
        }
    }
}
