import Foundation
import Testing

@testable import HTTPAPI

@Suite("Timestamp")
struct TimestampTests {
    @Test(
        "writes UTC with milliseconds",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (-0.001, "1969-12-31T23:59:59.999Z"),
            (-1, "1969-12-31T23:59:59.000Z"),
            (1_706_601_600, "2024-01-30T08:00:00.000Z"),
            (1_706_601_600.123, "2024-01-30T08:00:00.123Z"),
            (1_706_601_600.0004, "2024-01-30T08:00:00.000Z"),
            (1_706_601_599.9996, "2024-01-30T08:00:00.000Z"),
            (1_709_164_800, "2024-02-29T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (1_735_689_599.999, "2024-12-31T23:59:59.999Z"),
            (-2_203_891_200, "1900-03-01T00:00:00.000Z"),
            (253_402_300_799.999, "9999-12-31T23:59:59.999Z"),
            (-62_167_219_200, "0000-01-01T00:00:00.000Z"),
        ])
    func writes(seconds: Double, text: String) {
        #expect(Timestamp(Date(timeIntervalSince1970: seconds)).text == text)
    }

    @Test(
        "writes whole seconds, rounded down",
        arguments: [
            (1_706_601_600.999, "2024-01-30T08:00:00Z"), (-0.5, "1969-12-31T23:59:59Z"),
            (1_706_601_600, "2024-01-30T08:00:00Z"), (.infinity, "9999-12-31T23:59:59Z"),
        ])
    func writesSeconds(seconds: Double, text: String) {
        #expect(Timestamp(Date(timeIntervalSince1970: seconds)).textInSeconds == text)
    }

    @Test(
        "holds to the years of RFC 3339",
        arguments: [
            (Date.distantPast.timeIntervalSince1970, "0000-12-30T00:00:00.000Z"),
            (Date.distantFuture.timeIntervalSince1970, "4001-01-01T00:00:00.000Z"),
            (253_402_300_800, "9999-12-31T23:59:59.999Z"),
            (-62_167_219_201, "0000-01-01T00:00:00.000Z"),
            (.greatestFiniteMagnitude, "9999-12-31T23:59:59.999Z"),
            (.infinity, "9999-12-31T23:59:59.999Z"),
            (-.infinity, "0000-01-01T00:00:00.000Z"),
            (.nan, "0000-01-01T00:00:00.000Z"),
        ])
    func holdsToRange(seconds: Double, text: String) {
        #expect(Timestamp(Date(timeIntervalSince1970: seconds)).text == text)
    }

    @Test("agrees with Foundation from 1582 on, where that leaves the Julian calendar")
    func agreesWithFoundation() {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for step in stride(from: -12_200_000_000.0, to: 60_000_000_000, by: 86_399_999.5) {
            let date = Date(timeIntervalSince1970: step)
            #expect(Timestamp(date).text == date.formatted(style))
        }
    }

    @Test(
        "reads what it may be sent",
        arguments: [
            ("2024-01-30T08:00:00Z", "2024-01-30T08:00:00.000Z"),
            ("2024-01-30T08:00:00.1Z", "2024-01-30T08:00:00.100Z"),
            ("2024-01-30T08:00:00.123456789Z", "2024-01-30T08:00:00.123Z"),
            ("2024-02-29T23:59:59.999Z", "2024-02-29T23:59:59.999Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"),
            ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ])
    func reads(text: String, same: String) throws {
        #expect(try #require(Timestamp(text)).text == same)
    }

    @Test(
        "refuses what is no UTC time",
        arguments: [
            "", "Z", "2024-01-30", "2024-01-30T08:00:00", "2024-01-30T08:00:00+00:00", "2024-01-30 08:00:00Z",
            "2023-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2024-00-10T00:00:00Z", "2024-13-10T00:00:00Z",
            "2024-04-31T00:00:00Z", "2024-04-00T00:00:00Z", "2024-01-30T24:00:00Z", "2024-01-30T08:60:00Z",
            "2024-01-30T08:00:60Z", "2024-01-30T08:00:00.Z", "2024-01-30T08:00:00.1234567890Z",
            "2024-01-30T08:00:00,1Z", "-024-01-30T08:00:00Z", "２024-01-30T08:00:00Z", "2024-01-30T08:00:00.1a2Z",
        ])
    func refuses(text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test("is a JSON string")
    func isString() throws {
        let time = Timestamp(Date(timeIntervalSince1970: 1_706_601_600.25))
        #expect(try JSONEncoder().encode([time]) == Data("[\"2024-01-30T08:00:00.250Z\"]".utf8))
    }
}
