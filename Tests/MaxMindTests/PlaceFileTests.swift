import Foundation
import GatehouseTesting
import MaxMind
import OpenID
import Testing

/// Places from a file in MaxMind's format.
struct PlaceFileTests {
    private func file(_ bytes: [UInt8], _ body: (PlaceFile) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).mmdb")
        try Data(bytes).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        try body(PlaceFile(path: path.path))
    }

    @Test(arguments: [
        (nil, "Munich", "Bavaria", "Germany"), ("de-AT, en;q=0.5", "München", "Bayern", "Deutschland"),
        ("fr, de;q=0.5", "München", "Bayern", "Deutschland"), ("ja", "Munich", "Bavaria", "Germany"),
        ("../../etc, *;q=0.1", "Munich", "Bavaria", "Germany"),
    ])
    func `a place has the names of the reader's languages`(
        languages: String?, city: String, region: String, country: String
    ) throws {
        try file(PlaceFileFixture.bytes(network: [203, 0, 113])) { file in
            let place = try #require(file.place(of: "203.0.113.9", languages: languages))
            #expect(place.city == city && place.region == region && place.country == country)
            #expect(place.latitude == 48.1374 && place.longitude == 11.5755 && place.radius == 20)
            #expect(place.line == "\(city), \(region), \(country)")
        }
    }

    @Test(arguments: ["203.0.112.9", "2001:db8::1", "::1", "unknown", "", "203.0.113", "203.0.113.9 "])
    func `an address of another network has no place`(address: String) throws {
        try file(PlaceFileFixture.bytes(network: [203, 0, 113])) { file in
            #expect(file.place(of: address, languages: "en") == nil)
        }
    }

    @Test func `an IPv4 address that is mapped into IPv6 is found`() throws {
        try file(PlaceFileFixture.bytes(network: [203, 0, 113])) { file in
            #expect(file.place(of: "::ffff:203.0.113.9", languages: nil)?.city == "Munich")
        }
    }

    @Test func `a file of countries gives the country alone, and one without names nothing`() throws {
        let country: PlaceFileFixture.Value = .map([
            ("country", .map([("names", .map([("en", .text("Germany"))]))]))
        ])
        try file(PlaceFileFixture.bytes(network: [203], place: country)) { file in
            let place = try #require(file.place(of: "203.0.113.9", languages: nil))
            #expect(place.city == nil && place.region == nil && place.latitude == nil && place.line == "Germany")
        }
        // Values of other types than the format's are no names.
        let odd: PlaceFileFixture.Value = .map([("city", .map([("names", .map([("en", .uint32(7))]))]))])
        for value in [odd, .map([]), .text("Munich")] {
            try file(PlaceFileFixture.bytes(network: [203], place: value)) { file in
                #expect(file.place(of: "203.0.113.9", languages: nil) == nil)
            }
        }
    }

    @Test func `a region with the name of its city is named once`() {
        #expect(GeoPlace(city: "Berlin", region: "Berlin", country: "Germany").line == "Berlin, Germany")
        #expect(GeoPlace(city: nil, region: nil, country: nil).line == nil)
    }

    @Test func `what is no such file is refused with a reason`() throws {
        #expect(throws: PlaceFile.Fault.self) { try PlaceFile(path: "/nowhere/city.mmdb") }
        for bytes in [Array("no such file".utf8), [], Array(PlaceFileFixture.bytes(network: [203]).dropLast(90))] {
            #expect(throws: PlaceFile.Fault.self) { try file(bytes) { _ in } }
        }
    }

    @Test func `many readers read at once`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).mmdb")
        try Data(PlaceFileFixture.bytes(network: [203, 0, 113])).write(to: path)
        let file = try PlaceFile(path: path.path)
        // The open file is still there.
        try FileManager.default.removeItem(at: path)
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask { file.place(of: "203.0.113.\(number)", languages: "de")?.city == "München" }
            }
            for await isFound in group { #expect(isFound) }
        }
    }
}
