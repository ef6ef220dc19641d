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
        guard let milliseconds = Self.milliseconds(of: Array(text.utf8)) else { return nil }
        self.init(Date(timeIntervalSince1970: Double(milliseconds) / 1000))
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

    package var text: String {
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
            writer.write(time / 1000 % 60, digits: 2, then: ".")
            writer.write(time % 1000, digits: 3, then: "Z")
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
    private(set) var position = 0

    init(buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

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
    private static func milliseconds(of text: [UInt8]) -> Int64? {
        guard text.count >= 20, text.last == UInt8(ascii: "Z"), hasSeparators(text),
            let year = number(text[0..<4]), let month = number(text[5..<7]), let day = number(text[8..<10]),
            let hour = number(text[11..<13]), let minute = number(text[14..<16]), let second = number(text[17..<19]),
            let fraction = fraction(text[19..<(text.count - 1)]),
            1...12 ~= month, 1...daysIn(month: month, of: year) ~= day, hour < 24, minute < 60, second < 60
        else { return nil }
        let seconds = dayNumber(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second
        return seconds * 1000 + fraction
    }

    private static func hasSeparators(_ text: [UInt8]) -> Bool {
        zip([4, 7, 10, 13, 16], "--T::".utf8).allSatisfy { text[$0] == $1 }
    }

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

    private static func daysIn(month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
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
