import Accounts
import Testing

struct DeadlinesTests {
    private let start = ContinuousClock.now

    private func refusals(_ capacity: Int, _ ends: [(String, Int)]) -> Deadlines<String, ContinuousClock.Instant> {
        var refusals = Deadlines<String, ContinuousClock.Instant>(capacity: capacity)
        for (key, end) in ends { refusals.note(key, until: start + .seconds(end), now: start) }
        return refusals
    }

    @Test(
        arguments: [
            ([], 0, nil), ([("a", 10)], 0, 10), ([("a", 10)], 9, 1), ([("a", 10)], 10, nil), ([("a", 10)], 11, nil),
            ([("b", 10)], 0, nil), ([("a", 10), ("a", 20)], 15, 5), ([("a", 20), ("a", 10)], 15, nil),
            ([("a", 10), ("b", 20)], 5, 5), ([("a", 0)], 0, nil),
        ] as [([(String, Int)], Int, Int?)])
    func `a subject is refused until its time has come`(ends: [(String, Int)], now: Int, wait: Int?) {
        var refusals = refusals(10, ends)
        #expect(refusals.wait(for: "a", now: start + .seconds(now)) == wait.map { .seconds($0) })
    }

    @Test func `no more than the capacity are kept, those that wait longest`() {
        var refusals = refusals(10, (1...10).map { ("\($0)", $0) })
        #expect(refusals.count == 10)
        refusals.note("11", until: start + .seconds(11), now: start)
        #expect(refusals.count == 6)
        #expect((1...11).filter { refusals.wait(for: "\($0)", now: start) != nil } == [6, 7, 8, 9, 10, 11])
        for number in 12...1000 { refusals.note("\(number)", until: start + .seconds(1), now: start) }
        #expect(refusals.count <= 10)
        #expect(refusals.wait(for: "11", now: start) == .seconds(11))
    }

    @Test func `expired entries make room first`() {
        var refusals = refusals(10, (1...10).map { ("\($0)", $0) })
        refusals.note("11", until: start + .seconds(20), now: start + .seconds(5))
        #expect((1...11).filter { refusals.wait(for: "\($0)", now: start) != nil } == [6, 7, 8, 9, 10, 11])
    }

    @Test func `repeating an entry takes no space`() {
        var refusals = refusals(2, [("a", 5), ("b", 10)])
        refusals.note("a", until: start + .seconds(6), now: start)
        #expect(refusals.count == 2)
        #expect(refusals.wait(for: "a", now: start) == .seconds(6))
    }
}
