package import FoundationEssentials

/// A typed parameter in PostgreSQL's binary format; nil is NULL.
package struct Bind: Sendable {
    let type: UInt32
    let value: [UInt8]?
    /// Why the value cannot be sent, which `execute` reports before it sends anything; nil if it can.
    let fault: String?

    init(type: UInt32, value: [UInt8]?, fault: String? = nil) {
        (self.type, self.value, self.fault) = (type, value, fault)
    }

    init(type: UInt32, fault: String) { self.init(type: type, value: nil, fault: fault) }
    package static func uuid(_ value: UUID?) -> Self { Self(type: TypeOID.uuid, value: value?.bytes) }

    /// A `text`, which must not contain U+0000.
    ///
    /// PostgreSQL's text cannot contain this character, and libpq would silently cut the value there, so `execute`
    /// throws an error instead.
    package static func text(_ value: String?) -> Self {
        Self(type: TypeOID.text, text: value, bytes: { Array($0.utf8) })
    }

    package static func bytes(_ value: (some Sequence<UInt8>)?) -> Self {
        Self(type: TypeOID.bytes, value: value.map { [UInt8]($0) })
    }

    /// A `bytea`; this overload lets a bare `nil` compile, whose type the generic one cannot infer.
    package static func bytes(_ value: [UInt8]?) -> Self { Self(type: TypeOID.bytes, value: value) }

    package static func int(_ value: Int?) -> Self {
        Self(type: TypeOID.int8, value: value.map { Int64($0).bigEndianBytes })
    }

    package static func int4(_ value: Int32?) -> Self { Self(type: TypeOID.int4, value: value?.bigEndianBytes) }
    package static func bool(_ value: Bool?) -> Self { Self(type: TypeOID.bool, value: value.map { [$0 ? 1 : 0] }) }

    package static func double(_ value: Double?) -> Self {
        Self(type: TypeOID.float8, value: value?.bitPattern.bigEndianBytes)
    }

    /// A `timestamptz`, rounded to microseconds; an infinite date is PostgreSQL's `infinity`.
    package static func timestamp(_ value: Date?) -> Self {
        guard let value else { return Self(type: TypeOID.timestamp, value: nil) }
        guard let microseconds = Timestamp.microseconds(of: value) else {
            return Self(type: TypeOID.timestamp, fault: "a date is outside PostgreSQL's range")
        }
        return Self(type: TypeOID.timestamp, value: microseconds.bigEndianBytes)
    }

    /// An `interval` in microseconds, without days or months; smaller fractions are cut off.
    package static func interval(_ value: Duration?) -> Self {
        guard let value else { return Self(type: TypeOID.interval, value: nil) }
        let (seconds, attoseconds) = value.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (total, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        guard !overflow, !carry else {
            return Self(type: TypeOID.interval, fault: "a duration is outside PostgreSQL's range")
        }
        let noDaysNoMonths = [UInt8](repeating: 0, count: 8)
        return Self(type: TypeOID.interval, value: total.bigEndianBytes + noDaysNoMonths)
    }

    /// A `jsonb`, given as JSON text; the server checks that it is JSON.
    package static func json(_ value: String?) -> Self {
        let version: UInt8 = 1
        return Self(type: TypeOID.jsonb, text: value, bytes: { [version] + $0.utf8 })
    }

    private init(type: UInt32, text: String?, bytes: (String) -> [UInt8]) {
        let holdsNUL = text?.utf8.contains(0) ?? false
        self = holdsNUL ? Self(type: type, fault: Self.nulFault) : Self(type: type, value: text.map(bytes))
    }

    static let nulFault = "a text holds the character U+0000, which PostgreSQL cannot store"
}

/// Converts timestamps: PostgreSQL counts microseconds since 2000-01-01, Foundation seconds since 2001-01-01.
enum Timestamp {
    static let future = Int64.max
    static let past = Int64.min
    private static let secondsBetweenEpochs = 31_622_400.0

    static func microseconds(of date: Date) -> Int64? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite else { return seconds.isNaN ? nil : seconds > 0 ? future : past }
        return Int64(exactly: ((seconds + secondsBetweenEpochs) * 1_000_000).rounded())
    }

    static func date(microseconds: Int64) -> Date {
        switch microseconds {
        case future: Date(timeIntervalSinceReferenceDate: .infinity)
        case past: Date(timeIntervalSinceReferenceDate: -.infinity)
        default: Date(timeIntervalSinceReferenceDate: Double(microseconds) / 1_000_000 - secondsBetweenEpochs)
        }
    }
}

extension UUID {
    package var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }
}

extension FixedWidthInteger {
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
