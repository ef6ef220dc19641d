internal import Foundation
internal import ProviderKit

/// Lines over hours: an axis on the left, the hours below, and the names on the right beside the ends of the lines.
struct PlotLines: Sendable {
    let series: [ConsolePlot.Series]
    let hours: [Date]

    private static let x = 40.0...262.0
    private static let y = 12.0...172.0
    /// The distance between two names.
    private static let gap = 14.0

    init(_ series: [ConsolePlot.Series], hours: [Date]) { (self.series, self.hours) = (series, hours) }

    var values: [String: JSONValue] {
        let top = Self.axisEnd(above: series.flatMap(\.counts).max() ?? 0)
        let ends = series.map { Self.height(of: $0.counts.last ?? 0, below: top) }
        let names = Self.spread(ends, by: Self.gap, within: Self.y)
        return [
            "height": "200",
            "ticks": .array(
                (top < 2 ? [0, top] : [0, top / 2, top]).map { value in
                    [
                        "y": .coordinate(Self.y.upperBound - (Self.y.upperBound - Self.y.lowerBound) * value / top),
                        "text": .string(value.formatted(Self.numbers)),
                    ]
                }),
            "hours": .array(
                stride(from: 0, to: hours.count, by: max(1, hours.count / 4)).map { hour in
                    [
                        "x": .coordinate(place(of: hour)),
                        "text": .string(String(Timestamp(hours[hour]).text.dropFirst(11).prefix(5))),
                    ]
                }),
            "lines": .array(
                zip(series, names).enumerated().map { index, line in
                    [
                        "number": .string("\(index + 1)"), "points": ["whole": .string(points(line.0.counts, top))],
                        "y": .coordinate(line.1),
                        "label": .string(line.0.label.count > 10 ? line.0.label.prefix(9) + "…" : line.0.label),
                    ]
                }),
        ]
    }

    private static let numbers = FloatingPointFormatStyle<Double>(locale: Locale(identifier: "en_GB"))
        .notation(.compactName)

    /// The corners of a line; a single hour is a level line.
    private func points(_ counts: [Int], _ top: Double) -> String {
        let heights = counts.map { Self.height(of: $0, below: top) }
        let corners =
            heights.count == 1
            ? [(Self.x.lowerBound, heights[0]), (Self.x.upperBound, heights[0])]
            : heights.enumerated().map { (place(of: $0), $1) }
        return corners.map { "\(JSONValue.rounded($0)),\(JSONValue.rounded($1))" }.joined(separator: " ")
    }

    /// How far to the right an hour is.
    private func place(of hour: Int) -> Double {
        let steps = Double(max(1, hours.count - 1))
        return Self.x.lowerBound + (Self.x.upperBound - Self.x.lowerBound) * Double(hour) / steps
    }

    private static func height(of count: Int, below top: Double) -> Double {
        y.upperBound - (y.upperBound - y.lowerBound) * Double(count) / top
    }

    /// The end of the axis: 1, 2, 4, 6 or 8 times a power of ten, so that its half is a whole number, too.
    static func axisEnd(above most: Int) -> Double {
        guard most > 1 else { return 1 }
        let power = pow(10, log10(Double(most)).rounded(.down))
        return [1, 2, 4, 6, 8].map { $0 * power }.first { $0 >= Double(most) } ?? 10 * power
    }

    /// Places near the wanted ones, `gap` apart as far as there is room.
    static func spread(_ wanted: [Double], by gap: Double, within range: ClosedRange<Double>) -> [Double] {
        var places = wanted
        let order = wanted.indices.sorted { wanted[$0] < wanted[$1] }
        for (above, below) in zip(order, order.dropFirst()) {
            places[below] = max(places[below], places[above] + gap)
        }
        if let last = order.last { places[last] = min(places[last], range.upperBound) }
        for (above, below) in zip(order, order.dropFirst()).reversed() {
            places[above] = min(places[above], places[below] - gap)
        }
        return places
    }
}

/// Bars below their names.
struct PlotBars: Sendable {
    let series: [ConsolePlot.Series]

    /// The room for a name and its bar.
    private static let row = 34.0

    init(_ series: [ConsolePlot.Series]) { self.series = series }

    var values: [String: JSONValue] {
        let most = Double(max(1, series.map(\.total).max() ?? 0))
        return [
            "height": .coordinate(Self.row * Double(series.count)),
            "bars": .array(
                series.enumerated().map { index, bar in
                    let top = Self.row * Double(index)
                    return [
                        "textY": .coordinate(top + 13), "y": .coordinate(top + 18),
                        "width": .coordinate(max(1, 360 * Double(bar.total) / most)), "label": .string(bar.label),
                        "count": .integer(Int64(bar.total)),
                    ]
                }),
        ]
    }
}

extension JSONValue {
    /// A coordinate of a drawing.
    fileprivate static func coordinate(_ value: Double) -> JSONValue { .string(rounded(value)) }

    /// The number with at most one decimal.
    fileprivate static func rounded(_ value: Double) -> String {
        let tenths = (value * 10).rounded() / 10
        return tenths == tenths.rounded() ? "\(Int(tenths))" : "\(tenths)"
    }
}
