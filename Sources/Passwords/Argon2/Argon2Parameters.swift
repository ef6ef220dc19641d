/// The cost of an Argon2id run, limited so that neither a typing error nor a modified row exhausts the machine.
package struct Argon2Parameters: Sendable, Hashable {
    package let memoryKiB, iterations: UInt32
    /// The number of lanes, which one thread computes in sequence because `HashingPool` runs several jobs at once.
    package let parallelism: UInt32

    /// The default parameters: 64 MiB, two passes, four lanes.
    package static let standard = Self(uncheckedMemoryKiB: 65_536, iterations: 2, parallelism: 4)

    static let saltLength = 16
    static let tagLength = 32

    private static let maximumMemoryKiB: UInt32 = 1 << 20
    /// The limit of memory times iterations: 4 GiB, about 30 times the standard cost and a few seconds.
    private static let maximumWorkKiB: UInt64 = 1 << 22
    private static let maximumParallelism: UInt32 = 64

    /// - Throws: `PasswordsError.invalidSetting`, which contains the name of the field.
    package init(memoryKiB: UInt32, iterations: UInt32, parallelism: UInt32) throws {
        guard (1...Self.maximumParallelism).contains(parallelism) else {
            throw PasswordsError.invalidSetting(
                field: "argon2.parallelism", reason: "must be between 1 and \(Self.maximumParallelism)")
        }
        // RFC 9106 section 3.1: at least eight blocks of 1 KiB for each lane.
        let minimumMemoryKiB = 8 * parallelism
        guard (minimumMemoryKiB...Self.maximumMemoryKiB).contains(memoryKiB) else {
            throw PasswordsError.invalidSetting(
                field: "argon2.memoryKiB",
                reason: "must be between \(minimumMemoryKiB) (8 times parallelism) and \(Self.maximumMemoryKiB)")
        }
        let maximumIterations = Self.maximumWorkKiB / UInt64(memoryKiB)
        guard (1...maximumIterations).contains(UInt64(iterations)) else {
            throw PasswordsError.invalidSetting(
                field: "argon2.iterations",
                reason: "must be between 1 and \(maximumIterations) with \(memoryKiB) KiB of memory")
        }
        self.init(uncheckedMemoryKiB: memoryKiB, iterations: iterations, parallelism: parallelism)
    }

    private init(uncheckedMemoryKiB memoryKiB: UInt32, iterations: UInt32, parallelism: UInt32) {
        (self.memoryKiB, self.iterations, self.parallelism) = (memoryKiB, iterations, parallelism)
    }
}
