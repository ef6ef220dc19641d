internal import Foundation

/// A file in MaxMind's format (version 2.0) with one IPv4 network.
package enum PlaceFileFixture {
    /// A value of the format's data section.
    package indirect enum Value: Sendable {
        case text(String)
        case double(Double)
        case uint16(UInt16), uint32(UInt32), uint64(UInt64)
        case map([(String, Value)])
        case array([Value])
    }

    /// The place of the networks of the fixture: a city with names in two languages.
    package static let place: Value = .map([
        ("city", .map([("names", .map([("en", .text("Munich")), ("de", .text("München"))]))])),
        (
            "subdivisions",
            .array([.map([("names", .map([("en", .text("Bavaria")), ("de", .text("Bayern"))]))])])
        ),
        ("country", .map([("names", .map([("en", .text("Germany")), ("de", .text("Deutschland"))]))])),
        (
            "location",
            .map([("latitude", .double(48.1374)), ("longitude", .double(11.5755)), ("accuracy_radius", .uint16(20))])
        ),
    ])

    /// Writes the file; `network` is the first bytes of the addresses that have the place.
    package static func bytes(network: [UInt8], place: Value = place) -> [UInt8] {
        let bits = network.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
        let (count, nowhere) = (UInt32(bits.count), UInt32(bits.count))
        var file: [UInt8] = []
        for (index, bit) in bits.enumerated() {
            // The last record leads to the place, which is the first of the data section.
            let next = index + 1 < bits.count ? UInt32(index + 1) : count + 16
            for record in bit == 0 ? [next, nowhere] : [nowhere, next] {
                file += [UInt8(record >> 16 & 0xFF), UInt8(record >> 8 & 0xFF), UInt8(record & 0xFF)]
            }
        }
        file += [UInt8](repeating: 0, count: 16) + encoded(place)
        let metadata: Value = .map([
            ("node_count", .uint32(count)), ("record_size", .uint16(24)), ("ip_version", .uint16(4)),
            ("database_type", .text("Test-City")), ("languages", .array([.text("en"), .text("de")])),
            ("binary_format_major_version", .uint16(2)), ("binary_format_minor_version", .uint16(0)),
            ("build_epoch", .uint64(1_795_000_000)), ("description", .map([("en", .text("Test"))])),
        ])
        return file + [0xAB, 0xCD, 0xEF] + Array("MaxMind.com".utf8) + encoded(metadata)
    }

    private static func encoded(_ value: Value) -> [UInt8] {
        switch value {
        case .text(let text): control(2, text.utf8.count) + Array(text.utf8)
        case .double(let number): control(3, 8) + bigEndian(number.bitPattern, 8)
        case .uint16(let number): control(5, 2) + bigEndian(UInt64(number), 2)
        case .uint32(let number): control(6, 4) + bigEndian(UInt64(number), 4)
        case .uint64(let number): control(9, 8) + bigEndian(number, 8)
        case .map(let members): control(7, members.count) + members.flatMap { encoded(.text($0)) + encoded($1) }
        case .array(let elements): control(11, elements.count) + elements.flatMap(encoded)
        }
    }

    /// Types above 7 are in a byte of their own; no size here is above 28.
    private static func control(_ type: UInt8, _ size: Int) -> [UInt8] {
        type <= 7 ? [type << 5 | UInt8(size)] : [UInt8(size), type - 7]
    }

    private static func bigEndian(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(number >> UInt64(8 * (count - 1 - $0)) & 0xFF) }
    }
}
