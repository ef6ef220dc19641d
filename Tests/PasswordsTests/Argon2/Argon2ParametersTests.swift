import Passwords
import Testing

@Suite struct Argon2ParametersTests {
    @Test(
        arguments: [
            (8, 1, 1), (65_536, 2, 4), (1 << 20, 4, 64), (512, 8192, 64),
        ] as [(UInt32, UInt32, UInt32)])
    func `accepts parameters within the limits`(memory: UInt32, iterations: UInt32, parallelism: UInt32) throws {
        _ = try Argon2Parameters(memoryKiB: memory, iterations: iterations, parallelism: parallelism)
    }

    @Test(
        arguments: [
            (65_536, 2, 0, "argon2.parallelism"), (65_536, 2, 65, "argon2.parallelism"),
            (65_536, 2, .max, "argon2.parallelism"),
            (0, 2, 1, "argon2.memoryKiB"), (31, 2, 4, "argon2.memoryKiB"), ((1 << 20) + 1, 1, 4, "argon2.memoryKiB"),
            (.max, 1, 1, "argon2.memoryKiB"),
            (65_536, 0, 4, "argon2.iterations"), (65_536, 65, 4, "argon2.iterations"),
            (8, .max, 1, "argon2.iterations"),
        ] as [(UInt32, UInt32, UInt32, String)])
    func `names the field that is out of bounds`(
        memory: UInt32, iterations: UInt32, parallelism: UInt32, field: String
    ) {
        #expect {
            try Argon2Parameters(memoryKiB: memory, iterations: iterations, parallelism: parallelism)
        } throws: { error in
            guard case PasswordsError.invalidSetting(field, _) = error else { return false }
            return true
        }
    }
}
