import Accounts
import Foundation
import Passwords
import Testing

@Suite(.timeLimit(.minutes(1)))
struct HashingPoolTests {
    private struct Failure: Error {}

    @Test func `answers with what the job returns or throws`() async throws {
        let pool = HashingPool(threads: 2)
        #expect(try await pool.run { 7 } == 7)
        await #expect(throws: Failure.self) { try await pool.run { throw Failure() } }
        #expect(pool.statistics.done == 2)
        #expect(pool.statistics.running == 0)
        await pool.shutdown()
    }

    @Test func `refuses at once what exceeds the length, and answers the rest`() async throws {
        let pool = HashingPool(threads: 1, limits: .init(length: 2), expectedDuration: .zero)
        let blockade = await Blockade(of: pool)
        let first = await pool.queued { 1 }
        let second = await pool.queued { 2 }

        let start = ContinuousClock.now
        await #expect(throws: AccountsError.overloaded(retryAfter: .seconds(1))) { try await pool.run { 3 } }
        #expect(start.duration(to: .now) < .seconds(1))
        #expect(pool.statistics.rejected == 1)
        #expect(pool.statistics.queued == 2)
        #expect(pool.statistics.running == 1)

        try await blockade.lift()
        #expect(try await first.value == 1)
        #expect(try await second.value == 2)
        #expect(pool.statistics.done == 3)
        await pool.shutdown()
    }

    @Test func `refuses a job that would wait too long, with the time to retry`() async throws {
        let pool = HashingPool(threads: 1, limits: .init(wait: .seconds(2)), expectedDuration: .seconds(1))
        let blockade = await Blockade(of: pool)
        let first = await pool.queued { 1 }
        let second = await pool.queued { 2 }
        await #expect(throws: AccountsError.overloaded(retryAfter: .seconds(3))) { try await pool.run { 3 } }
        try await blockade.lift()
        _ = try await (first.value, second.value)
        await pool.shutdown()
    }

    @Test func `a free thread takes a job however slow jobs are`() async throws {
        let pool = HashingPool(threads: 2, limits: .init(wait: .zero), expectedDuration: .seconds(60))
        let blockade = await Blockade(of: pool)
        #expect(try await pool.run { 1 } == 1)
        try await blockade.lift()
        await pool.shutdown()
    }

    @Test func `runs jobs in their order`() async throws {
        let pool = HashingPool(threads: 1)
        let blockade = await Blockade(of: pool)
        let (order, log) = AsyncStream.makeStream(of: Int.self)
        for number in 1...5 {
            _ = await pool.queued { log.yield(number) }
        }
        try await blockade.lift()
        await pool.shutdown()
        log.finish()
        #expect(await order.reduce(into: []) { $0.append($1) } == [1, 2, 3, 4, 5])
    }

    @Test func `a flood from one network does not delay others`() async throws {
        let pool = HashingPool(threads: 1, limits: .init(length: 20), expectedDuration: .zero)
        let blockade = await Blockade(of: pool)
        let (order, log) = AsyncStream.makeStream(of: String.self)
        for _ in 1...10 { _ = await pool.queued(for: .at("flood")) { log.yield("flood") } }
        await #expect(throws: AccountsError.overloaded(retryAfter: .seconds(1))) {
            try await pool.run(for: .at("flood", about: "another")) { log.yield("too many") }
        }
        #expect(throws: AccountsError.self) { try pool.requireCapacity(for: .at("flood")) }
        try pool.requireCapacity(for: .at("home"))
        _ = await pool.queued(for: .at("home")) { log.yield("home") }
        #expect(pool.statistics.refusals == [.network: 2])
        try await blockade.lift()
        await pool.shutdown()
        log.finish()
        let served = await order.reduce(into: []) { $0.append($1) }
        #expect(served == ["flood", "home"] + Array(repeating: "flood", count: 9))
    }

    @Test func `a flood from all networks of a block leaves a third of the places`() async throws {
        let pool = HashingPool(threads: 1, limits: .init(length: 20), expectedDuration: .zero)
        let blockade = await Blockade(of: pool)
        let runs = Counter()
        for number in 1...14 { _ = await pool.queued(for: .at("\(number)", in: "flood")) { runs.increment() } }
        #expect(throws: AccountsError.self) { try pool.requireCapacity(for: .at("15", in: "flood")) }
        #expect(pool.statistics.refusals == [.block: 1])
        _ = await pool.queued(for: .at("15", in: "home")) { runs.increment() }
        try await blockade.lift()
        await pool.shutdown()
        #expect(runs.value == 15)
    }

    @Test func `a flood from one network leaves its neighbours a place`() async throws {
        let pool = HashingPool(threads: 1, limits: .init(length: 20), expectedDuration: .zero)
        let blockade = await Blockade(of: pool)
        for _ in 1...10 { _ = await pool.queued(for: .at("flood", in: "block")) {} }
        #expect(throws: AccountsError.self) { try pool.requireCapacity(for: .at("flood", in: "block")) }
        try pool.requireCapacity(for: .at("home", in: "block"))
        try await blockade.lift()
        await pool.shutdown()
    }

    @Test func `a flood at one subject holds half of the places, and leaves some for newcomers`() async throws {
        let pool = HashingPool(threads: 1, limits: .init(length: 20), expectedDuration: .zero)
        let blockade = await Blockade(of: pool)
        let runs = Counter()
        for number in 1...10 {
            let requester = HashingRequester.at("\(number)", in: "\(number % 5)", about: "x")
            _ = await pool.queued(for: requester) { runs.increment() }
        }
        for requester in [HashingRequester.at("1", in: "1", about: "x"), .at("11", in: "1", about: "x")] {
            #expect(throws: AccountsError.self) { try pool.requireCapacity(for: requester) }
        }
        #expect(pool.statistics.refusals == [.subject: 2])
        // A request from the flood's block about another subject is accepted, and so is the owner's from another
        // network.
        _ = await pool.queued(for: .at("11", in: "1", about: "y")) { runs.increment() }
        try pool.requireCapacity(for: .at("home", about: "x"))
        _ = await pool.queued(for: .at("home", about: "x")) { runs.increment() }
        try await blockade.lift()
        await pool.shutdown()
        #expect(runs.value == 12)
    }

    @Test func `a client that disconnects leaves the queue at once`() async throws {
        let pool = HashingPool(threads: 1)
        let (runs, connection) = (Counter(), ClientConnection())
        let blockade = await Blockade(of: pool)
        let caller = await pool.queued(for: .at("a", connection: connection)) { runs.increment() }
        let other = await pool.queued(for: .at("a")) { 2 }
        connection.close()
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect((pool.statistics.queued, pool.statistics.abandoned) == (1, 1))
        await #expect(throws: CancellationError.self) {
            try await pool.run(for: .at("a", connection: connection)) { runs.increment() }
        }
        try await blockade.lift()
        #expect(try await other.value == 2)
        await pool.shutdown()
        #expect((runs.value, pool.statistics.done) == (0, 2))
    }

    @Test func `a hash that runs is completed although its client disconnects`() async throws {
        let pool = HashingPool(threads: 1)
        let connection = ClientConnection()
        let answer = try await pool.run(for: .at("a", connection: connection)) {
            connection.close()
            return 1
        }
        #expect(answer == 1)
        await pool.shutdown()
    }

    @Test func `measures how long jobs wait and run`() async throws {
        let pool = HashingPool(threads: 1)
        for _ in 1...3 { try await pool.run {} }
        let statistics = pool.statistics
        #expect((statistics.waits.count, statistics.durations.count) == (3, 3))
        #expect(statistics.durations.buckets.reduce(0, +) <= 3)
        #expect(statistics.durations.seconds >= 0)
        await pool.shutdown()
    }

    @Test func `a cancelled caller leaves the queue at once`() async throws {
        let pool = HashingPool(threads: 1)
        let runs = Counter()
        let blockade = await Blockade(of: pool)
        let caller = await pool.queued { runs.increment() }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(pool.statistics.queued == 0)
        #expect(pool.statistics.abandoned == 1)
        try await blockade.lift()
        await pool.shutdown()
        #expect(runs.value == 0)
    }

    @Test func `a caller whose task is already cancelled does not wait`() async throws {
        let pool = HashingPool(threads: 1)
        let blockade = await Blockade(of: pool)
        let caller = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await pool.run { 1 }
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(pool.statistics.queued == 0)
        try await blockade.lift()
        await pool.shutdown()
    }

    @Test func `answers every caller of a flood exactly once`() async throws {
        let pool = HashingPool(threads: 2, limits: .init(length: 10))
        let runs = Counter()
        let answers = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<500 {
                group.addTask {
                    let caller = Task { try await pool.run { runs.increment() } }
                    if number.isMultiple(of: 3) {
                        caller.cancel()
                    }
                    return (try? await caller.value) != nil
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        await pool.shutdown()
        let statistics = pool.statistics
        #expect(answers.count == 500)
        #expect(answers.count(where: \.self) == statistics.done)
        #expect(runs.value == statistics.done)
        #expect(statistics.done + statistics.rejected + statistics.abandoned == 500)
    }

    @Test func `shutdown answers those who wait and refuses those who come`() async throws {
        let pool = HashingPool(threads: 1)
        let blockade = await Blockade(of: pool)
        let first = await pool.queued { 1 }
        let second = await pool.queued { 2 }
        async let shutdown: Void = pool.shutdown()
        async let again: Void = pool.shutdown()
        await pool.closed()
        try await blockade.lift()
        _ = await (shutdown, again)
        #expect(try await first.value == 1)
        #expect(try await second.value == 2)
        await #expect(throws: AccountsError.overloaded(retryAfter: .seconds(1))) { try await pool.run { 3 } }
        await pool.shutdown()
    }

    @Test(arguments: [(cores: 1, threads: 1), (2, 2), (3, 2), (4, 3), (16, 15)])
    func `leaves one of more than two cores free`(cores: Int, threads: Int) async {
        let pool = HashingPool(cores: cores)
        #expect(pool.statistics.workers == threads)
        await pool.shutdown()
    }

    /// Before the first job, a job is expected to take 0.1 s.
    @Test(arguments: [(cores: 1, places: 15), (2, 30), (3, 40), (4, 60)])
    func `the queue is shorter on one or two cores`(cores: Int, places: Int) async throws {
        let pool = HashingPool(cores: cores)
        var blockades: [Blockade] = []
        for _ in 1...pool.statistics.workers { blockades.append(await Blockade(of: pool)) }
        var waiting: [Task<Void, any Error>] = []
        for _ in 1...places { waiting.append(await pool.queued {}) }
        await #expect(throws: AccountsError.self) { try await pool.run {} }
        for blockade in blockades { try await blockade.lift() }
        for job in waiting { try await job.value }
        await pool.shutdown()
    }

    @Test func `hashes at a lower priority than that of the process`() async throws {
        // The path names the main thread.
        let before = try Self.niceness(of: "/proc/self")
        let pool = HashingPool(threads: 1)
        #expect(try await pool.run { try Self.niceness(of: "/proc/thread-self") } == min(before + 10, 19))
        #expect(try Self.niceness(of: "/proc/self") == before)
        await pool.shutdown()
    }

    private static func niceness(of thread: String) throws -> Int {
        let text = try String(contentsOfFile: thread + "/stat", encoding: .utf8)
        // The fields after the program's name begin with the third one (proc(5)).
        let fields = text[try #require(text.lastIndex(of: ")"))...].split(separator: " ").dropFirst()
        return try #require(Int(fields[fields.startIndex + 16]))
    }

    @Test func `updates the average duration`() async throws {
        let pool = HashingPool(threads: 1, expectedDuration: .seconds(8))
        try await pool.run {}
        let average = pool.statistics.averageDuration
        #expect(average >= .seconds(7) && average < .seconds(8))
        await pool.shutdown()
    }

    @Test func `has memory released by itself when idle`() async throws {
        let (releases, signal) = AsyncStream.makeStream(of: Duration.self)
        let pool = HashingPool(threads: 1, idleTime: .milliseconds(5)) { signal.yield($0) }
        // No job arrives, so the thread wakes up without one.
        let first = await releases.first { _ in true }
        #expect(first == .milliseconds(5))
        await pool.shutdown()
    }
}
