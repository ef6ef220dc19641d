import Synchronization
import Testing

@testable import Storage

struct JoinedReadsTests {
    private let table = Table()
    private let reads: JoinedReads<Int, String>

    init() {
        reads = JoinedReads(fetch: table.fetch)
    }

    @Test func `who asks alone is answered at once`() async throws {
        #expect(try await reads.value(of: 1) == "1.0")
        #expect(try await reads.value(of: 404) == nil)
        #expect(table.fetches == [[1], [404]])
    }

    @Test func `who asks while a statement is on its way shares the next one`() async throws {
        table.isOpen = false
        async let first = reads.value(of: 1)
        await until { table.fetches.count == 1 }
        async let others = withThrowingTaskGroup(of: String?.self) { group in
            for key in 2...50 {
                group.addTask { try await reads.value(of: key) }
            }
            return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        await until { reads.waiting == 49 }
        table.isOpen = true
        #expect(try await first == "1.0")
        #expect(try await others == Set((2...50).map { "\($0).0" }))
        #expect(table.fetches.map(\.count) == [1, 49])
    }

    @Test func `an answer is never from before the question`() async throws {
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

    @Test func `an error is told to all who share the statement, and to nobody after`() async throws {
        table.isBroken = true
        await #expect(throws: Table.Broken.self) { try await reads.value(of: 1) }
        table.isBroken = false
        #expect(try await reads.value(of: 1) == "1.0")
    }

    @Test func `who leaves takes nothing from those who stay`() async throws {
        table.isOpen = false
        let leaving = Task { try await reads.value(of: 1) }
        await until { table.fetches.count == 1 }
        async let staying = reads.value(of: 2)
        await until { reads.waiting == 1 }
        leaving.cancel()
        table.isOpen = true
        #expect(try await staying == "2.0")
    }

    private func until(_ condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }
}

/// Rows that name their key, and the table's version when the statement began.
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

    /// No statement ends before it is.
    var isOpen: Bool {
        get { state.withLock { $0.isOpen } }
        set { state.withLock { $0.isOpen = newValue } }
    }

    @Sendable func fetch(_ keys: [Int]) async throws -> [Int: String] {
        let (version, isBroken) = state.withLock { state in
            state.fetches.append(keys)
            return (state.version, state.isBroken)
        }
        while !isOpen { await Task.yield() }
        if isBroken { throw Broken() }
        return Dictionary(uniqueKeysWithValues: keys.filter { $0 < 100 }.map { ($0, "\($0).\(version)") })
    }
}
