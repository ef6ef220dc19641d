package import Foundation

extension UUID {
    /// A UUID of version 7 (RFC 9562): rows that are created together are adjacent in every index.
    package static func v7() -> UUID {
        let milliseconds = UInt64(clamping: Int64(Date().timeIntervalSince1970 * 1000))
        var generator = SystemRandomNumberGenerator()
        // Each half has its random bits behind the version (7) and the variant (the bits 10).
        let high: UInt64 = milliseconds << 16 | 0x7000 | generator.next() & 0x0FFF
        let low: UInt64 = 0x8000_0000_0000_0000 | generator.next() & 0x3FFF_FFFF_FFFF_FFFF
        return withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// A UUID of version 8 (RFC 9562) from the first 16 bytes of a hash.
    package static func v8(of hash: [UInt8]) -> UUID {
        var bytes = Array(hash.prefix(16))
        (bytes[6], bytes[8]) = (bytes[6] & 0x0F | 0x80, bytes[8] & 0x3F | 0x80)
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// Lower case, as in every response and token.
    package var text: String { uuidString.lowercased() }
}
