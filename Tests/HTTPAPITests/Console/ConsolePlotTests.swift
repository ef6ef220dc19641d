import Foundation
import ProviderKit
import Testing

@testable import HTTPAPI

/// The arithmetic of the console's plots.
struct ConsolePlotTests {
    /// 2026-05-03T12:34:56Z.
    private static let now = Date(timeIntervalSince1970: 1_777_811_696)

    private static func plot(
        _ kind: ConsolePlot.Kind = .lines, hours: Int = 24, _ series: [String: [(time: String, count: Int64)]]
    ) -> ConsolePlot {
        let answer: JSONValue = [
            "series": .array(
                series.sorted { $0.key < $1.key }.map { label, points in
                    [
                        "label": .string(label),
                        "points": .array(points.map { [.string($0.time), .integer($0.count)] }),
                    ]
                })
        ]
        return ConsolePlot(kind, id: "p", title: "Plot", of: answer, hours: hours, until: now)
    }

    @Test func `the hours end with the one that is under way`() {
        let plot = Self.plot(hours: 3, ["a": [("2026-05-03T12:00:00.000Z", 2), ("2026-05-03T10:00:00.000Z", 5)]])
        #expect(plot.hours.map { Timestamp($0).text.dropFirst(11).prefix(5) } == ["10:00", "11:00", "12:00"])
        #expect(plot.series == [.init(label: "a", counts: [5, 0, 2])])
        #expect(plot.hours.first == ConsolePlot.start(ofHours: 3, until: Self.now))
    }

    @Test func `points of other times, and what is no point, are left out`() {
        let plot = Self.plot(
            hours: 2,
            [
                "a": [
                    ("2026-05-03T10:59:59.999Z", 7), ("2026-05-03T13:00:00Z", 7), ("9999-12-31T23:59:59Z", 7),
                    ("0000-01-01T00:00:00Z", 7), ("yesterday", 7), ("2026-05-03T11:30:00Z", -4),
                    ("2026-05-03T11:00:00Z", 1),
                ]
            ])
        #expect(plot.series == [.init(label: "a", counts: [1, 0])])
        for answer: JSONValue in [.null, [], ["series": "a"], ["series": [1]], ["series": [["points": [[], 1, "a"]]]]] {
            let plot = ConsolePlot(.lines, id: "p", title: "Plot", of: answer, hours: 2, until: Self.now)
            #expect(plot.series == [] && plot.json["isEmpty"] == true)
        }
    }

    @Test(arguments: [ConsolePlot.Kind.lines, .bars])
    func `without data, or without hours, there is nothing to draw`(kind: ConsolePlot.Kind) {
        for plot in [Self.plot(kind, [:]), Self.plot(kind, ["a": []]), Self.plot(kind, hours: 0, [:])] {
            #expect(plot.json["isEmpty"] == true && plot.json["lines"] == [] && plot.json["bars"] == [])
        }
    }

    @Test func `a single hour is a level line`() {
        let json = Self.plot(hours: 1, ["a": [("2026-05-03T12:00:00Z", 3)]]).json
        #expect(json[path: "lines.0.points.whole"] == "40,52 262,52")
        #expect(json["rows"].array?.count == 1)
    }

    @Test func `a line goes from the left to the right, and higher counts are higher`() {
        let json = Self.plot(
            hours: 3,
            ["a": [("2026-05-03T10:00:00Z", 1), ("2026-05-03T11:00:00Z", 4), ("2026-05-03T12:00:00Z", 2)]]
        ).json
        #expect(json[path: "lines.0.points.whole"] == "40,132 151,12 262,92")
        #expect(json["ticks"].array?.map { $0["text"] } == ["0", "2", "4"])
        #expect(json["hours"].array?.map { $0["text"] } == ["10:00", "11:00", "12:00"])
        #expect(json[path: "rows.1.cells.1.cell.text"] == 4)
    }

    @Test(arguments: [ConsolePlot.Kind.lines, .bars])
    func `the largest numbers fit`(kind: ConsolePlot.Kind) {
        let huge = Dictionary(
            uniqueKeysWithValues: (0..<300).map {
                ("label \($0)", [("2026-05-03T11:00:00Z", Int64.max), ("2026-05-03T12:00:00Z", Int64.max)])
            })
        let plot = Self.plot(kind, hours: 2, huge)
        #expect(plot.series.allSatisfy { $0.total == .max })
        let drawn = plot.drawn(atMost: 5)
        #expect(drawn.count == 5 && drawn.last == .init(label: "others", counts: [.max, .max]))
        let json = plot.json
        #expect(json["isEmpty"] == false && json["rows"].array?.isEmpty == false)
        for line in json["lines"].array ?? [] {
            #expect(line[path: "points.whole"].string?.contains(/^40,[\d.]+ 262,[\d.]+$/) == true, "\(line)")
        }
        #expect((json["bars"].array ?? []).allSatisfy { $0["width"] == "360" })
    }

    @Test func `what is beyond the most lines is drawn as one`() {
        let series = Dictionary(
            uniqueKeysWithValues: "abcdefg".map { (String($0), [("2026-05-03T12:00:00Z", Int64(2))]) })
        let drawn = Self.plot(hours: 1, series).drawn(atMost: 5)
        #expect(drawn.map(\.label) == ["a", "b", "c", "d", "others"] && drawn.last?.counts == [6])
        #expect(Self.plot(hours: 1, series).drawn(atMost: 7).map(\.label) == "abcdefg".map(String.init))
    }

    @Test(arguments: [
        (0, 1), (1, 1), (2, 2), (3, 4), (5, 6), (11, 20), (99, 100), (100, 100), (101, 200), (4001, 6000),
        (8001, 10_000),
    ])
    func `an axis ends at a number whose half is whole`(most: Int, end: Double) {
        #expect(PlotLines.axisEnd(above: most) == end)
        #expect(PlotLines.axisEnd(above: .max) >= Double(Int.max))
    }

    @Test(
        arguments: [
            ([], []), ([50], [50]), ([50, 50, 50], [50, 64, 78]), ([172, 172], [158, 172]),
            ([12, 172, 20], [12, 172, 26]),
            ([170, 160, 172], [158, 144, 172]),
        ] as [([Double], [Double])])
    func `names of lines keep their distance and stay inside`(wanted: [Double], places: [Double]) {
        #expect(PlotLines.spread(wanted, by: 14, within: 12...172) == places)
    }

    @Test func `bars are as wide as their counts`() {
        let json = Self.plot(
            .bars, hours: 1, ["a": [("2026-05-03T12:00:00Z", 100)], "b": [("2026-05-03T12:00:00Z", 25)]]
        )
        .json
        #expect(json["bars"].array?.map { $0["width"] } == ["360", "90"])
        #expect(json["height"] == "68")
    }
}
