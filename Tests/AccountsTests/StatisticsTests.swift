import Foundation
import Synchronization
import Testing

@testable import Accounts

/// Counting in memory, and moving the counts to the database.
struct StatisticsTests {
    private static let application = Application.ID(rawValue: 1)

    @Test func `a number has at most two hundred labels, and counts further ones as others`() {
        let statistics = Statistics()
        for number in 0..<300 { statistics.count(.refusals, label: "label \(number)", in: Self.application) }
        statistics.count(.refusals, label: "label 0", in: Self.application)
        let pending = statistics.pending(in: Self.application)
        #expect(pending.count == Statistics.labels)
        #expect(pending[.init(.refusals, label: "label 0")] == 2)
        #expect(pending[.init(.refusals, label: "other")] == 101)
        #expect(pending.values.reduce(0, +) == 301)
    }

    @Test func `the labels stay bounded after the counts were taken`() {
        let statistics = Statistics()
        for number in 0..<199 { statistics.count(.links, label: "\(number)", in: Self.application) }
        #expect(statistics.take()[Self.application]?.count == 199)
        statistics.count(.links, label: "new", in: Self.application)
        #expect(statistics.pending(in: Self.application) == [.init(.links, label: "other"): 1])
    }

    @Test func `counts are taken once`() {
        let statistics = Statistics()
        statistics.count(.refreshes, in: Self.application)
        #expect(statistics.take() == [Self.application: [.init(.refreshes, label: ""): 1]])
        #expect(statistics.take().isEmpty)
    }

    @Test func `counts that could not be stored are stored by the next call`() async throws {
        let (statistics, store) = (Statistics(), UnreliableStore())
        statistics.count(.signIns, label: "email", in: Self.application)
        store.isDown.withLock { $0 = true }
        await #expect(throws: UnreliableStore.Down.self) { try await StatisticsFlush(statistics, to: store).run() }
        statistics.count(.signIns, label: "email", in: Self.application)
        store.isDown.withLock { $0 = false }
        try await StatisticsFlush(statistics, to: store).run()
        #expect(store.added.withLock { $0 } == [.init(.signIns, label: "email"): 2])
    }

    @Test func `concurrent counts are all there`() async {
        let statistics = Statistics()
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1000 { statistics.count(.refreshes, in: Self.application) } }
            }
        }
        #expect(statistics.pending(in: Self.application) == [.init(.refreshes, label: ""): 8000])
    }
}

private final class UnreliableStore: StatisticsStore {
    struct Down: Error {}

    let isDown = Mutex(false)
    let added = Mutex<[Statistics.Key: Int]>([:])

    func add(_ counts: [Statistics.Key: Int], application: Application.ID) throws {
        guard !isDown.withLock({ $0 }) else { throw Down() }
        added.withLock { $0.merge(counts) { $0 + $1 } }
    }

    func series(
        of statistic: Statistic, label: String?, in period: StatisticsPeriod, limit: Int, application: Application.ID
    ) -> [StatisticsSeries] { [] }

    func recentCounts(
        of statistic: Statistic, within window: Duration, application: Application.ID
    ) -> [String: RecentCount] { [:] }
}
