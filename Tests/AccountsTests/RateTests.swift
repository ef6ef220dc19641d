import Accounts
import Testing

struct RateTests {
    @Test(arguments: [
        (5, 60, 12_000_000), (3, 3600, 1_200_000_000), (7, 60, 8_571_428), (1_000_000, 1, 1), (999_999, 1, 1),
        (1_000_000, 86_400, 86_400), (1, 86_400, 86_400_000_000),
    ])
    func `one call becomes available after each interval, and all within the window`(
        count: Int, seconds: Int, microseconds: Int
    ) {
        let rate = Rate(count, per: .seconds(seconds))
        #expect(rate.interval == .microseconds(microseconds))
        #expect(rate.interval * count <= rate.window)
    }
}
