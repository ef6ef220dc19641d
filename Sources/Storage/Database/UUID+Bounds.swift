internal import Foundation

extension UUID {
    /// The id before every other.
    static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// The id after every other, at which a list begins that has the newest rows first.
    static let last = UUID(
        uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))

    /// The bound below all UUIDs of version 7 (RFC 9562) with this time.
    static func firstV7(at time: Date) -> UUID {
        let milliseconds = min(max(0, time.timeIntervalSince1970 * 1000), Double(1 << 48 - 1))
        let high = UInt64(milliseconds) << 16
        return withUnsafeBytes(of: (high.bigEndian, UInt64(0))) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
