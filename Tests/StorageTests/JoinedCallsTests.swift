import Postgres
import Synchronization
import Testing

@testable import Storage

@Suite(.timeLimit(.minutes(1))) struct JoinedCallsTests {
    private let table = Table()
    private let reads: JoinedCalls<Int, String>

    init() {
        reads = JoinedCalls(crowd: 64, most: .max, width: 2, limit: 100, deadline: .seconds(60), fetch: table.fetch)
    }

    @Test func `a single caller is answered at once`() async throws {
        #expect(try await reads.value(of: 1) == "1.0")
        #expect(try await reads.value(of: 404) == nil)
        #expect(table.fetches == [[1], [404]])
    }

    @Test func `a caller during a statement shares the next one`() async throws {
        table.isOpen = false
        async let first = reads.value(of: 1)
        await until { table.fetches.count == 1 }
        async let others = values(of: 2...16)
        await until { reads.waiting == 15 }
        table.isOpen = true
        #expect(try await first == "1.0")
        #expect(try await others == Set((2...16).map { "\($0).0" }))
        #expect(table.fetches.map(\.count) == [1, 15])
    }

    @Test func `callers wait only for the limit of concurrent statements`() async throws {
        table.isOpen = false
        async let first = reads.value(of: 1)
        await until { table.fetches.count == 1 }
        async let crowd = values(of: 2...65)
        await until { table.fetches.count == 2 }
        async let others = values(of: 66...99)
        await until { reads.waiting == 34 }
        #expect(table.fetches.map(\.count) == [1, 64])
        table.isOpen = true
        #expect(try await (first, crowd.count, others.count) == ("1.0", 64, 34))
        #expect(table.fetches.map(\.count) == [1, 64, 34])
    }

    @Test func `with a crowd of one, a statement starts for each call as long as fewer than the limit are in progress`()
        async throws
    {
        table.isOpen = false
        let writes = JoinedCalls(crowd: 1, most: .max, width: 2, limit: 100, deadline: .seconds(60), fetch: table.fetch)
        async let first = writes.value(of: 1)
        await until { table.fetches.count == 1 }
        async let second = writes.value(of: 2)
        await until { table.fetches.count == 2 }
        async let third = writes.value(of: 3)
        async let fourth = writes.value(of: 4)
        await until { writes.waiting == 2 }
        table.isOpen = true
        #expect(try await (first, second, third, fourth) == ("1.0", "2.0", "3.0", "4.0"))
        #expect(table.fetches.map(\.count) == [1, 1, 2])
    }

    @Test func `a statement has no more keys than it may, and those that waited longest`() async throws {
        table.isOpen = false
        let small = JoinedCalls(crowd: 64, most: 2, width: 1, limit: 100, deadline: .seconds(60), fetch: table.fetch)
        async let first = small.value(of: 1)
        await until { table.fetches.count == 1 }
        var others: [Task<String?, any Error>] = []
        for key in 2...6 {
            others.append(Task { try await small.value(of: key) })
            await until { small.waiting == key - 1 }
        }
        table.isOpen = true
        #expect(try await first == "1.0")
        for (key, other) in zip(2..., others) { #expect(try await other.value == "\(key).0") }
        #expect(table.fetches.map(Set.init) == [[1], [2, 3], [4, 5], [6]])
    }

    @Test func `a caller that has waited too long fails when the next statement starts`() async throws {
        table.isOpen = false
        let impatient = JoinedCalls(
            crowd: 64, most: .max, width: 1, limit: 100, deadline: .milliseconds(500), fetch: table.fetch)
        async let first = impatient.value(of: 1)
        await until { table.fetches.count == 1 }
        let second = Task { try await impatient.value(of: 2) }
        await until { impatient.waiting == 1 }
        try await Task.sleep(for: .milliseconds(600))
        table.isOpen = true
        #expect(try await first == "1.0")
        await #expect(throws: PostgresError.deadlineExceeded) { try await second.value }
        #expect(table.fetches == [[1]])
        #expect(try await impatient.value(of: 3) == "3.0")
    }

    @Test func `no more callers wait than the limit allows`() async throws {
        table.isOpen = false
        let one = JoinedCalls(crowd: 64, most: .max, width: 1, limit: 2, deadline: .seconds(60), fetch: table.fetch)
        async let first = one.value(of: 1)
        await until { table.fetches.count == 1 }
        async let second = one.value(of: 2)
        async let third = one.value(of: 3)
        await until { one.waiting == 2 }
        await #expect(throws: PostgresError.overloaded) { try await one.value(of: 4) }
        table.isOpen = true
        #expect(try await (first, second, third) == ("1.0", "2.0", "3.0"))
        #expect(try await one.value(of: 4) == "4.0")
    }

    @Test func `an answer is never older than its request`() async throws {
        table.isOpen = false
        async let early = reads.value(of: 1)
        await until { table.fetches.count == 1 }
        table.version = 1
        async let late = reads.value(of: 1)
        await until { reads.waiting == 1 }
        table.isOpen = true
        #expect(try await early == "1.0")
        #expect(try await late == "1.1")
    }

    @Test func `an error reaches all callers that share the statement and no later ones`() async throws {
        table.isBroken = true
        await #expect(throws: Table.Broken.self) { try await reads.value(of: 1) }
        table.isBroken = false
        #expect(try await reads.value(of: 1) == "1.0")
    }

    @Test func `an unreadable row fails only the caller that requested it`() async throws {
        table.isOpen = false
        async let first = reads.value(of: 1)
        await until { table.fetches.count == 1 }
        async let good = reads.value(of: 2)
        let bad = Task { try await reads.value(of: -1) }
        await until { reads.waiting == 2 }
        table.isOpen = true
        #expect(try await (first, good) == ("1.0", "2.0"))
        await #expect(throws: Table.Broken.self) { try await bad.value }
    }

    @Test func `a cancelled caller leaves at once and does not affect others`() async throws {
        table.isOpen = false
        let leaving = Task { try await reads.value(of: 1) }
        await until { table.fetches.count == 1 }
        async let staying = reads.value(of: 2)
        let waiting = Task { try await reads.value(of: 3) }
        await until { reads.waiting == 2 }
        leaving.cancel()
        waiting.cancel()
        // The cancelled caller returns before any statement has ended.
        await #expect(throws: CancellationError.self) { try await leaving.value }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(reads.waiting == 1)
        table.isOpen = true
        #expect(try await staying == "2.0")
        #expect(table.fetches == [[1], [2]])
    }

    @Test func `a caller whose task is already cancelled does not wait`() async {
        table.isOpen = false
        let caller = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await reads.value(of: 1)
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(reads.waiting == 0)
        table.isOpen = true
    }

    private func values(of keys: ClosedRange<Int>) async throws -> Set<String?> {
        try await withThrowingTaskGroup(of: String?.self) { group in
            for key in keys {
                group.addTask { try await reads.value(of: key) }
            }
            return try await group.reduce(into: []) { $0.insert($1) }
        }
    }

    private func until(_ condition: () -> Bool) async {
        while !condition(), !Task.isCancelled { await Task.yield() }
    }
}

/// A table whose rows contain their key and the table's version at the start of the statement.
///
/// Rows with a negative key cannot be read.
private final class Table: Sendable {
    struct Broken: Error {}

    private struct State {
        var version = 0
        var isBroken = false
        var isOpen = true
        var fetches: [[Int]] = []
    }

    private let state = Mutex(State())

    var fetches: [[Int]] { state.withLock { $0.fetches } }

    var version: Int {
        get { state.withLock { $0.version } }
        set { state.withLock { $0.version = newValue } }
    }

    var isBroken: Bool {
        get { state.withLock { $0.isBroken } }
        set { state.withLock { $0.isBroken = newValue } }
    }

    /// Statements end only while this is `true`.
    var isOpen: Bool {
        get { state.withLock { $0.isOpen } }
        set { state.withLock { $0.isOpen = newValue } }
    }

    @Sendable func fetch(_ keys: [Int]) async throws -> JoinedCalls<Int, String>.Answers {
        let (version, isBroken) = state.withLock { state in
            state.fetches.append(keys)
            return (state.version, state.isBroken)
        }
        while !isOpen { await Task.yield() }
        if isBroken { throw Broken() }
        let rows = keys.filter { $0 < 100 }.map { key in
            (key, Result { if key < 0 { throw Broken() } else { "\(key).\(version)" } })
        }
        return Dictionary(uniqueKeysWithValues: rows)
    }
}
