internal import Foundation
internal import ProviderKit

/// What the server has counted by hour, as a drawing with a table of its figures, for the template `plot`.
///
/// The drawing is an SVG of 360 units in width. Its coordinates are texts, because templates write large numbers with
/// separators.
struct ConsolePlot: Sendable {
    /// The counts under one label, one for each hour.
    struct Series: Sendable, Equatable {
        let label: String
        let counts: [Int]

        var total: Int { counts.reduce(0, ConsolePlot.sum) }
    }

    /// How the counts are drawn.
    enum Kind: Sendable { case lines, bars }

    /// What the elements' ids begin with.
    let id: String
    let title: String
    let kind: Kind
    /// The beginnings of the hours.
    let hours: [Date]
    /// Those with the highest sums first.
    let series: [Series]

    /// The greatest numbers of lines and bars; the others are drawn as one.
    static let most = (lines: 5, bars: 8)
    private static let other = "others"

    /// Reads an answer of the statistics with the step `hour`, for the hours up to the one that `end` falls into.
    init(
        _ kind: Kind, id: String, title: String, of answer: JSONValue, hours count: Int, until end: Date,
        labelled name: (String) -> String = { $0 }
    ) {
        (self.kind, self.id, self.title) = (kind, id, title)
        let start = Self.start(ofHours: count, until: end)
        hours = (0..<max(0, count)).map { start.addingTimeInterval(Double($0) * 3600) }
        series = (answer["series"].array ?? []).map { series in
            Series(
                label: name(series["label"].string ?? ""),
                counts: Self.counts(series["points"], hours: count, from: start))
        }.filter { $0.total > 0 }
    }

    /// The counts of a series by hour; hours without a point have 0.
    static func counts(_ points: JSONValue, hours: Int, from start: Date) -> [Int] {
        var counts = [Int](repeating: 0, count: max(0, hours))
        for point in points.array ?? [] {
            guard let time = point[path: "0"].time,
                let hour = Int(exactly: (time.timeIntervalSince(start) / 3600).rounded(.down)),
                counts.indices.contains(hour)
            else { continue }
            counts[hour] = sum(counts[hour], Int(max(0, point[path: "1"].integer ?? 0)))
        }
        return counts
    }

    /// The beginning of the first of so many hours, of which `end` falls into the last.
    static func start(ofHours count: Int, until end: Date) -> Date {
        let last = (end.timeIntervalSince1970 / 3600).rounded(.down) * 3600
        return Date(timeIntervalSince1970: last - Double(max(1, count) - 1) * 3600)
    }

    /// The sum, or the largest number if the sum would be larger.
    static func sum(_ one: Int, _ other: Int) -> Int {
        let (sum, isTooLarge) = one.addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }

    /// The series that are drawn: at most `count`, of which the last is the sum of the others.
    func drawn(atMost count: Int) -> [Series] {
        guard series.count > count else { return series }
        let kept = series.prefix(count - 1)
        let rest = series.dropFirst(count - 1).reduce([Int](repeating: 0, count: hours.count)) { sums, series in
            zip(sums, series.counts).map { Self.sum($0, $1) }
        }
        return kept + [Series(label: Self.other, counts: rest)]
    }
}

// MARK: - For the template

extension ConsolePlot {
    var json: JSONValue {
        var plot: [String: JSONValue] = [
            "id": .string(id), "title": .string(title), "isEmpty": .bool(series.isEmpty),
            "description": ["whole": .string(description)], "ticks": [], "lines": [], "bars": [],
        ]
        switch kind {
        case .lines: plot.merge(PlotLines(drawn(atMost: Self.most.lines), hours: hours).values) { $1 }
        case .bars: plot.merge(PlotBars(drawn(atMost: Self.most.bars)).values) { $1 }
        }
        plot.merge(table) { $1 }
        return .object(plot)
    }

    /// What the drawing shows, for those who do not see it.
    private var description: String {
        let sums = drawn(atMost: Self.most.bars).map { "\($0.label) \($0.total)" }.joined(separator: ", ")
        return "In the last \(hours.count) hours: \(sums). The table below has the figures."
    }

    /// The figures, for the template `table`.
    private var table: [String: JSONValue] {
        let titles: [String]
        let rows: [[JSONValue]]
        switch kind {
        case .lines:
            let lines = drawn(atMost: Self.most.lines)
            titles = ["Hour from"] + lines.map(\.label)
            rows = hours.indices.map { hour in
                [["time": .string(Timestamp(hours[hour]).text)]] + lines.map { Self.cell($0.counts[hour]) }
            }
        case .bars:
            titles = ["What", "Number"]
            rows = series.map { [["text": .string($0.label)], Self.cell($0.total)] }
        }
        return [
            "columns": .array(titles.map { ["title": .string($0)] }),
            "rows": .array(
                rows.map { cells in
                    [
                        "cells": .array(zip(titles, cells).map { ["title": .string($0), "cell": $1] }), "acts": [],
                    ]
                }),
            "hasRows": .bool(!rows.isEmpty), "hasRowActs": false, "isFiltered": false, "next": false,
        ]
    }

    private static func cell(_ count: Int) -> JSONValue { ["text": .integer(Int64(count))] }
}
