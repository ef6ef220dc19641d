package import Foundation

extension UUID {
    /// A time-ordered UUID (RFC 9562, version 7): milliseconds since the epoch, then 74 random bits.
    ///
    /// Rows that are created together are adjacent in every index.
    package static func v7(at time: Date = Date()) -> UUID {
        let milliseconds = UInt64(clamping: Int64(time.timeIntervalSince1970 * 1000))
        var generator = SystemRandomNumberGenerator()
        let high = generator.next()
        let low = generator.next()
        func timeByte(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * index)) }
        func highByte(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: high >> (8 * index)) }
        func lowByte(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: low >> (8 * index)) }
        return UUID(
            uuid: (
                timeByte(0), timeByte(1), timeByte(2), timeByte(3), timeByte(4), timeByte(5),
                0x70 | (highByte(0) & 0x0F), highByte(1), 0x80 | (lowByte(0) & 0x3F), lowByte(1), lowByte(2),
                lowByte(3), lowByte(4), lowByte(5), lowByte(6), lowByte(7)
            ))
    }

    /// Lower case, as in every response and token.
    package var text: String { uuidString.lowercased() }
}
