import Testing

@testable import Passwords

/// The suites that run Argon2 share the process-wide `MemoryRegions` and look at it, so they take turns.
@Suite(.serialized, .timeLimit(.minutes(1)))
enum HashingSuites {}

extension Argon2Parameters {
    /// The least that Argon2 allows with two lanes: microseconds.
    static var tiny: Self {
        get throws { try Argon2Parameters(memoryKiB: 16, iterations: 1, parallelism: 2) }
    }
}
