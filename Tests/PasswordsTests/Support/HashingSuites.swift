import Testing

@testable import Passwords

/// The suites that run Argon2.
///
/// They run one after another, because they inspect the process-wide `MemoryRegions`.
@Suite(.serialized, .timeLimit(.minutes(1)))
enum HashingSuites {}

extension Argon2Parameters {
    /// The smallest parameters that Argon2 allows with two lanes.
    ///
    /// A run takes microseconds.
    static var tiny: Self {
        get throws { try Argon2Parameters(memoryKiB: 16, iterations: 1, parallelism: 2) }
    }
}
