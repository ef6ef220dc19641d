import Foundation
import ProviderKit
import Testing

@testable import HTTPAPI

/// The small plots of the pages about providers.
struct ProviderPlotTests {
    @Test(arguments: [
        ([0, 0, 7], [0, 0, 1000]), ([1, 1, 2], [250, 250, 500]), ([1, 0, 1_000_000], [12, 0, 988]),
        ([1_204, 9_310, 37_586], [25, 193, 782]),
    ])
    func `the parts of a bar fill it, and none that counts is invisible`(counts: [Int64], widths: [Int64]) {
        let names = ["stranded", "detour", "unaffected"]
        let plan = JSONValue.object(Dictionary(uniqueKeysWithValues: zip(names, counts.map { .integer($0) })))
        #expect(FateBar(of: plan)?.widths == widths)
    }

    @Test func `a plan that concerns nobody has no bar`() {
        #expect(FateBar(of: ["stranded": 0, "detour": 0, "unaffected": 0]) == nil)
        #expect(FateBar(of: .null) == nil)
    }

    @Test func `sign-ins stand in their hours, and those of other days are left out`() throws {
        let now = try #require(Timestamp("2030-01-30T08:20:00Z")).date
        let points: JSONValue = [
            ["2030-01-29T08:00:00Z", 5], ["2030-01-29T09:00:00Z", 1], ["2030-01-30T08:00:00Z", 3], ["odd", 1],
        ]
        let signIns = SignInsByHour(points: points, now: now)
        #expect(signIns.firstHour == 9)
        #expect(signIns.counts.first == 1 && signIns.counts.last == 3 && signIns.counts.reduce(0, +) == 4)
        #expect(signIns.json(named: "google")["bars"].array?.count == 2)
        #expect(SignInsByHour(points: .null, now: now).json(named: "google")["total"] == 0)
    }
}
