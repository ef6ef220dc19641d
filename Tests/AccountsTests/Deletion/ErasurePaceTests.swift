import Synchronization
import Testing

@testable import Accounts

/// The rests between erasures follow the waiting times of other statements.
struct ErasurePaceTests {
    private static let erasure: Duration = .milliseconds(20)
    private static let usual = 5
    private static let slow = 12

    /// Answered statements, by class.
    private final class Load: Sendable {
        private let answered = Mutex([Int](repeating: 0, count: 32))

        var counts: [Int] { answered.withLock { $0 } }

        func answer(_ count: Int, inClass index: Int) { answered.withLock { $0[index] += count } }
    }

    private let load = Load()
    private let pace: ErasurePace

    init() {
        pace = ErasurePace { [load] in load.counts }
        load.answer(1000, inClass: Self.usual)
        pace.noteUndisturbed()
    }

    /// Erases beside 200 statements a second; every other erasure delays one of the two that it meets.
    ///
    /// - Returns: the delayed and all statements of the second half, in which the pace has adapted.
    private func erase(_ times: Int, delaying class: Int) -> (delayed: Int, all: Int, rest: Duration) {
        var (delayed, all) = (0, 0)
        for number in 0..<times {
            let rest = pace.rest(after: Self.erasure)
            let (slow, others) = (number % 2, Int(rest / .milliseconds(5)))
            load.answer(slow, inClass: `class`)
            load.answer(2 - slow, inClass: Self.usual)
            pace.noteDisturbed()
            load.answer(others, inClass: Self.usual)
            pace.noteUndisturbed()
            guard number >= times / 2 else { continue }
            delayed += slow
            all += 2 + others
        }
        return (delayed, all, pace.rest(after: Self.erasure))
    }

    @Test func `erasures that delay statements become so rare that the 99th percentile stays`() {
        let seen = erase(1000, delaying: Self.slow)
        #expect(seen.delayed * 100 < seen.all, "\(seen)")
        #expect(seen.rest < .seconds(1), "\(seen)")
    }

    @Test func `erasures that delay nobody rest as long as they took`() {
        let calm = erase(200, delaying: Self.usual + 1)
        #expect(calm.rest == Self.erasure, "\(calm)")
        _ = erase(100, delaying: Self.slow)
        #expect(pace.rest(after: Self.erasure) > Self.erasure * 5)
        #expect(erase(1000, delaying: Self.usual).rest == Self.erasure)
    }

    @Test func `statements that are slow without an erasure make no rest longer`() {
        for _ in 0..<300 {
            load.answer(3, inClass: Self.slow)
            load.answer(497, inClass: Self.usual)
            pace.noteUndisturbed()
            load.answer(3, inClass: Self.slow)
            load.answer(497, inClass: Self.usual)
            pace.noteDisturbed()
        }
        #expect(pace.rest(after: Self.erasure) == Self.erasure)
    }

    @Test func `without other statements a rest is as long as the erasure`() {
        let idle = ErasurePace { [Int](repeating: 0, count: 32) }
        for _ in 0..<10 {
            idle.noteUndisturbed()
            idle.noteDisturbed()
        }
        #expect(idle.rest(after: Self.erasure) == Self.erasure)
        #expect(idle.rest(after: .seconds(5)) == .seconds(1))
    }

    @Test func `what is usual is learnt between erasures, also by a server that starts among them`() {
        let other = Load()
        let late = ErasurePace { other.counts }
        for _ in 0..<100 {
            other.answer(5, inClass: Self.usual)
            late.noteUndisturbed()
            other.answer(5, inClass: Self.slow)
            late.noteDisturbed()
        }
        #expect(late.rest(after: Self.erasure) > Self.erasure * 10)
    }
}
