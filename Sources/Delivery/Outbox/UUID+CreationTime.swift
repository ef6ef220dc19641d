internal import Foundation

extension UUID {
    /// The milliseconds in front of a version 7 UUID (RFC 9562, 5.7); far off for any other version.
    var creationTime: Date {
        let milliseconds = withUnsafeBytes(of: uuid) { bytes in
            bytes.prefix(6).reduce(0) { $0 << 8 | Int64($1) }
        }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
