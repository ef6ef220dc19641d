import Testing

@testable import GatehouseBench

struct ProgressMeterTests {
    private final class Screen {
        var text = ""
    }

    @Test func `a terminal gets one line that is overwritten`() {
        let screen = Screen()
        var meter = ProgressMeter(total: 3, what: "accounts", isTerminal: true) { screen.text += $0 }
        meter.advance(by: 1)
        meter.advance(by: 2)
        meter.end()
        #expect(screen.text.hasPrefix("\r██████████░░░░░░░░░░░░░░░░░░░░ 33 % of 3 accounts, "))
        #expect(screen.text.contains("\r██████████████████████████████ 100 % of 3 accounts in "))
        #expect(screen.text.filter { $0 == "\n" }.count == 1 && screen.text.hasSuffix("\n"))
    }

    @Test func `a file gets a line for every tenth`() {
        let screen = Screen()
        var meter = ProgressMeter(total: 1000, what: "accounts", isTerminal: false) { screen.text += $0 }
        for _ in 0..<1000 { meter.advance(by: 1) }
        meter.end()
        let lines = screen.text.split(separator: "\n")
        #expect(lines.map { $0.prefix { $0 != " " } } == (1...10).map { "\($0 * 10)" })
        #expect(!screen.text.contains("\r"))
    }

    @Test(arguments: [
        (250, Duration.seconds(10), "25 % of 1000 people, 25/s, 30 s left"),
        (100, .seconds(60), "10 % of 1000 people, 1/s, 9 min 0 s left"),
        (1, .seconds(60), "0 % of 1000 people, 0/s, 16 h 39 min left"),
        (0, .seconds(5), "0 % of 1000 people, 0/s, ? left"),
        (1000, .milliseconds(61_400), "100 % of 1000 people in 1 min 2 s"),
    ])
    func `the time left follows from the pace so far`(done: Int, elapsed: Duration, line: String) {
        #expect(ProgressState(done: done, total: 1000, what: "people", elapsed: elapsed).line == line)
    }
}
