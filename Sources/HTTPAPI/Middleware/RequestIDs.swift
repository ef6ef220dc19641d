internal import ProviderKit
internal import Synchronization

/// Generates request ids of 16 hexadecimal digits, which do not repeat within 2⁶⁴ and do not reveal the number of
/// requests.
///
/// An id is a counter with a random start, permuted by SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom
/// Number Generators, 2014). The system's random numbers would cost a system call per request.
final class RequestIDs: Sendable {
    private let state = Atomic(UInt64.random(in: .min ... .max))

    func next() -> String {
        var number = state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
        number ^= number >> 31
        return withUnsafeBytes(of: number.bigEndian) { $0.hex }
    }
}
