package import Foundation

/// An instant in the API's format: RFC 3339 in UTC with milliseconds, as in `2024-01-30T08:00:00.000Z`.
///
/// The text is computed by integer arithmetic, because a formatter takes longer than the rest of a response. RFC 3339
/// has only the years 0000 to 9999; other dates, including infinities, are written as the nearest date in that range.
package struct Timestamp: Sendable, Hashable, Encodable {
    package let date: Date

    package init(_ date: Date) { self.date = date }

    /// Reads seconds with or without a fraction (RFC 3339, 5.6); `Z` is the only offset accepted.
    package init?(_ text: some StringProtocol) {
        let text = Array(text.utf8)
        let numbers = [0..<4, 5..<7, 8..<10, 11..<13, 14..<16, 17..<19].compactMap { range in
            text.count >= 20 ? Self.number(text[range]) : nil
        }
        guard numbers.count == 6, text.last == UInt8(ascii: "Z"), let fraction = Self.fraction(text[19...].dropLast())
        else { return nil }
        let day = Self.dayNumber(year: numbers[0], month: numbers[1], day: numbers[2])
        let seconds = day * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        self.init(Date(timeIntervalSince1970: Double(seconds * 1000 + fraction) / 1000))
        // A date or a time that does not exist, and other separators, would be written differently.
        guard self.text.utf8.prefix(19).elementsEqual(text[..<19]) else { return nil }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

// MARK: - Writing

extension Timestamp {
    /// 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z, in milliseconds since the epoch.
    private static let range: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    package var text: String { text(hasFraction: true) }

    /// The instant in whole seconds, rounded down, as in `2024-01-30T08:00:00Z`.
    package var textInSeconds: String { text(hasFraction: false) }

    private func text(hasFraction: Bool) -> String {
        let milliseconds = clampedMilliseconds
        let day = milliseconds.flooredDivision(by: 86_400_000)
        let time = milliseconds - day * 86_400_000
        let (year, month, dayOfMonth) = Self.civil(day: day)
        return String(unsafeUninitializedCapacity: 24) { buffer in
            var writer = DigitWriter(buffer: buffer)
            writer.write(year, digits: 4, then: "-")
            writer.write(month, digits: 2, then: "-")
            writer.write(dayOfMonth, digits: 2, then: "T")
            writer.write(time / 3_600_000, digits: 2, then: ":")
            writer.write(time / 60_000 % 60, digits: 2, then: ":")
            writer.write(time / 1000 % 60, digits: 2, then: hasFraction ? "." : "Z")
            if hasFraction { writer.write(time % 1000, digits: 3, then: "Z") }
            return writer.position
        }
    }

    /// Milliseconds since the epoch, rounded to the nearest, so that a parsed text is written unchanged.
    private var clampedMilliseconds: Int64 {
        let exact = (date.timeIntervalSince1970 * 1000).rounded()
        guard exact > Double(Self.range.lowerBound) else { return Self.range.lowerBound }
        guard exact < Double(Self.range.upperBound) else { return Self.range.upperBound }
        return Int64(exact)
    }

    /// Converts days since the epoch to a date of the proleptic Gregorian calendar, which RFC 3339 uses for every year.
    ///
    /// The calculation uses eras of 400 years, and years that begin in March, so that the leap day is the last day of a
    /// year.
    private static func civil(day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = shifted.flooredDivision(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}

/// Writes numbers of a fixed width into a buffer that is large enough.
private struct DigitWriter {
    let buffer: UnsafeMutableBufferPointer<UInt8>
    var position = 0

    mutating func write(_ number: Int64, digits: Int, then separator: Unicode.Scalar) {
        var rest = number
        for index in stride(from: position + digits - 1, through: position, by: -1) {
            buffer[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        buffer[position + digits] = UInt8(ascii: separator)
        position += digits + 1
    }
}

// MARK: - Reading

extension Timestamp {
    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
            value = value * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return value
    }

    /// The milliseconds of a fraction such as `.123`, truncated after the third digit; 0 for an empty text.
    private static func fraction(_ text: ArraySlice<UInt8>) -> Int64? {
        guard let point = text.first else { return 0 }
        let digits = text.dropFirst()
        guard point == UInt8(ascii: "."), 1...9 ~= digits.count, number(digits) != nil else { return nil }
        return number(Array((digits + Array("00".utf8)).prefix(3))[...])
    }

    /// The inverse of `civil(day:)`.
    private static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = marchYear.flooredDivision(by: 400)
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension Int64 {
    /// The quotient rounded toward negative infinity, while `/` rounds toward zero.
    fileprivate func flooredDivision(by divisor: Int64) -> Int64 { self / divisor - (self % divisor < 0 ? 1 : 0) }
}
