import Accounts
import CArgon2
import Foundation
import Testing

@testable import Passwords

extension HashingSuites {
    @Suite struct Argon2Tests {
        /// The Argon2id test vectors of the reference implementation (P-H-C/phc-winner-argon2, src/test.c).
        @Test(arguments: [
            "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
            "$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc",
        ])
        func `gives the tags of the reference implementation`(vector: String) throws {
            let expected = try PHCString(PasswordHash(phc: vector))
            let secret = PasswordSecret("password", pepper: nil)
            #expect(try Argon2.tag(of: secret, under: expected.setup) == expected.tag)
        }

        @Test(arguments: ["", "correct horse", "Пароль 😀"])
        func `is verified by libargon2 itself`(password: String) throws {
            let setup = PHCString.Setup(
                parameters: try Argon2Parameters(memoryKiB: 512, iterations: 3, parallelism: 4), pepperID: nil,
                salt: Array(0..<16))
            let tag = try Argon2.tag(of: PasswordSecret(password, pepper: nil), under: setup)
            let phc = PHCString(setup: setup, tag: tag).encoded.phc
            let bytes = Array(password.utf8)
            #expect(argon2_verify(phc, bytes, bytes.count, Argon2_id) == ARGON2_OK.rawValue)
        }

        @Test func `the next run reuses the memory, wiped`() throws {
            let parameters = try Argon2Parameters(memoryKiB: 6 << 10, iterations: 1, parallelism: 1)
            let setup = PHCString.Setup(parameters: parameters, pepperID: nil, salt: Array(0..<16))
            let size = Int(parameters.memoryKiB) << 10
            let regions = MemoryRegions.shared
            regions.release(unusedFor: .zero)
            let region = try #require(regions.take(size))
            memset(region, 0xFF, size)
            regions.giveBack(region, size: size)

            _ = try Argon2.tag(of: PasswordSecret("password", pepper: nil), under: setup)

            #expect(regions.idleCount == 1)
            let again = try #require(regions.take(size))
            defer {
                regions.giveBack(again, size: size)
                regions.release(unusedFor: .zero)
            }
            #expect(again == region)
            #expect(UnsafeRawBufferPointer(start: again, count: size).allSatisfy { $0 == 0 })
        }
    }
}
