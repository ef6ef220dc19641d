import Accounts
import Passwords
import Testing

/// A call reserves a place before it has a job; no way out of the call keeps the place.
@Suite(.timeLimit(.minutes(1)))
struct HashingReservationTests {
    private struct Failure: Error {}

    @Test func `a reserved place counts as a job, and its job is accepted although the queue is full`() async throws {
        let pool = HashingPool(threads: 1, limits: .init(length: 3), expectedDuration: .zero)
        let blockade = await Blockade(of: pool)
        let places = try ["a", "b", "c"].map { try pool.reserve(for: .at($0)) }
        #expect(throws: AccountsError.self) { try pool.reserve(for: .at("d")) }
        #expect((pool.statistics.reserved, pool.statistics.refusals) == (3, [.full: 1]))

        let job = await pool.queued(for: .at("a", place: places[0])) { 1 }
        #expect((pool.statistics.queued, pool.statistics.reserved) == (1, 2))
        places.forEach(pool.giveBack)
        places.forEach(pool.giveBack)
        #expect((pool.statistics.queued, pool.statistics.reserved) == (1, 0))
        try await blockade.lift()
        #expect(try await job.value == 1)
        await pool.shutdown()
    }

    @Test func `a place is used by one job; the next one is checked again`() async throws {
        let pool = HashingPool(threads: 1, limits: .init(length: 1), expectedDuration: .zero)
        let place = try pool.reserve(for: .at("a"))
        #expect(try await pool.run(for: .at("a", place: place)) { 1 } == 1)
        let blockade = await Blockade(of: pool)
        _ = try pool.reserve(for: .at("b"))
        await #expect(throws: AccountsError.self) { try await pool.run(for: .at("a", place: place)) { 2 } }
        try await blockade.lift()
        await pool.shutdown()
    }

    @Test func `a network's reserved places limit it like waiting jobs`() async throws {
        let pool = HashingPool(threads: 1, limits: .init(length: 20), expectedDuration: .zero)
        let blockade = await Blockade(of: pool)
        let places = try (1...10).map { _ in try pool.reserve(for: .at("flood")) }
        #expect(throws: AccountsError.self) { try pool.reserve(for: .at("flood")) }
        _ = try pool.reserve(for: .at("home"))
        #expect(pool.statistics.refusals == [.network: 1])
        places.forEach(pool.giveBack)
        _ = try pool.reserve(for: .at("flood"))
        try await blockade.lift()
        await pool.shutdown()
    }

    @Test func `a place counts for its subject as soon as the subject is known`() async throws {
        let pool = HashingPool(threads: 1, limits: .init(length: 4), expectedDuration: .zero)
        let blockade = await Blockade(of: pool)
        for network in ["1", "2"] {
            let place = try pool.reserve(for: .at(network, in: network))
            try pool.requireCapacity(for: .at(network, in: network, about: "x", place: place))
        }
        // Two places are free before this call reserves one, and calls about `x` hold two.
        let place = try pool.reserve(for: .at("3", in: "1"))
        #expect(throws: AccountsError.self) {
            try pool.requireCapacity(for: .at("3", in: "1", about: "x", place: place))
        }
        #expect((pool.statistics.reserved, pool.statistics.refusals) == (2, [.subject: 1]))
        try await blockade.lift()
        await pool.shutdown()
    }

    @Test(arguments: ["success", "error", "cancelled", "disconnected", "not used"])
    func `no place stays taken`(way: String) async throws {
        let pool = HashingPool(threads: 1)
        let connection = ClientConnection()
        let place = try pool.reserve(for: .at("a"))
        let requester = HashingRequester.at("a", about: "x", connection: connection, place: place)
        switch way {
        case "success": try await pool.run(for: requester) {}
        case "error": await #expect(throws: Failure.self) { try await pool.run(for: requester) { throw Failure() } }
        case "cancelled":
            let job = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await pool.run(for: requester) {}
            }
            await #expect(throws: CancellationError.self) { try await job.value }
        case "disconnected":
            connection.close()
            await #expect(throws: CancellationError.self) { try await pool.run(for: requester) {} }
        default: pool.giveBack(place)
        }
        #expect((pool.statistics.queued, pool.statistics.reserved) == (0, 0))
        await pool.shutdown()
    }

    @Test func `shutdown does not wait for reserved places, and refuses their jobs`() async throws {
        let pool = HashingPool(threads: 1)
        let place = try pool.reserve(for: .at("a"))
        await pool.shutdown()
        await #expect(throws: AccountsError.self) { try await pool.run(for: .at("a", place: place)) {} }
        #expect((pool.statistics.reserved, pool.statistics.refusals) == (0, [.closed: 1]))
    }
}
