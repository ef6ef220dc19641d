import Foundation

/// A fictitious person for measurements, whose data is all derived from a number.
///
/// Ids are UUIDs of version 7 from a week of June 2023, in the order of the numbers, such as
/// `01890000-0001-75ee-8d00-000000000001`; real ids are younger.
struct SeededPerson: Sendable, Equatable {
    static let numbers = 1...600_000_000

    let number: Int

    init(_ number: Int) {
        self.number = number
    }

    static let first = SeededPerson(numbers.lowerBound)
    static let last = SeededPerson(numbers.upperBound)

    var uid: UUID { id(0) }
    var sessionID: UUID { id(1) }

    /// Returns the id of an identity.
    ///
    /// Indexes start at 1; the first identity has the password.
    func identityID(_ index: Int) -> UUID { id(UInt8(truncatingIfNeeded: 0x0F + index)) }

    var email: String { "\(name)@bench.example" }
    var displayName: String { "Person \(number)" }

    /// Returns the subject of an identity of the second provider.
    func subject(_ index: Int) -> String { index == 2 ? name : "\(name)-\(index)" }

    private var name: String {
        let digits = String(number)
        return "seeded-" + String(repeating: "0", count: max(0, 10 - digits.count)) + digits
    }

    private static let firstMillisecond: UInt64 = 0x0189_0000_0000

    private func id(_ role: UInt8) -> UUID {
        let number = UInt64(clamping: number)
        let time = Self.firstMillisecond + number
        func byte(_ value: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: value >> (40 - 8 * index)) }
        return UUID(
            uuid: (
                byte(time, 0), byte(time, 1), byte(time, 2), byte(time, 3), byte(time, 4), byte(time, 5),
                0x75, 0xEE, 0x8D, role,
                byte(number, 0), byte(number, 1), byte(number, 2), byte(number, 3), byte(number, 4), byte(number, 5)
            ))
    }
}
