import Accounts
import CArgon2
import Crypto
import Testing

@testable import Passwords

extension HashingSuites {
    @Suite struct PasswordHasherTests {
        private let pool = HashingPool(threads: 2)

        private func hasher(
            _ parameters: Argon2Parameters? = nil, pepper: PepperKeys = .none
        ) throws -> PasswordHasher {
            PasswordHasher(parameters: try parameters ?? .tiny, pepper: pepper, pool: pool)
        }

        private func key(_ id: String) throws -> PepperKeys.Key {
            try PepperKeys.Key(id: .init(id), secret: SymmetricKey(data: SHA256.hash(data: Array(id.utf8))))
        }

        @Test func `hashes at the standard cost as libargon2 verifies`() async throws {
            let hasher = PasswordHasher(pool: pool)
            let hash = try await hasher.hash("correct horse", sharingSaltOf: nil, for: .somebody)
            #expect(hash.phc.hasPrefix("$argon2id$v=19$m=65536,t=2,p=4$"))
            #expect(argon2_verify(hash.phc, "correct horse", 13, Argon2_id) == ARGON2_OK.rawValue)
            #expect(
                try await hasher.match("correct horse", against: [hash], for: .somebody)
                    == PasswordMatch(hash: hash, isOutdated: false))
            await pool.shutdown()
        }

        @Test func `matches only the right password, and uses a new salt for each hash`() async throws {
            let hasher = try hasher()
            let hash = try await hasher.hash("correct horse", sharingSaltOf: nil, for: .somebody)
            #expect(try await hasher.match("correct horse", against: [hash], for: .somebody)?.hash == hash)
            #expect(try await hasher.match("correct horsf", against: [hash], for: .somebody) == nil)
            #expect(try await hasher.match("", against: [hash], for: .somebody) == nil)
            #expect(try await hasher.hash("correct horse", sharingSaltOf: nil, for: .somebody) != hash)
            await pool.shutdown()
        }

        @Test func `matches however the keyboard composes`() async throws {
            let hasher = try hasher()
            let hash = try await hasher.hash("cafe\u{301} cre\u{300}me", sharingSaltOf: nil, for: .somebody)
            #expect(try await hasher.match("caf\u{E9}\u{A0}cr\u{E8}me", against: [hash], for: .somebody)?.hash == hash)
            await pool.shutdown()
        }

        @Test func `checks a decoy and the live password in one run`() async throws {
            let hasher = try hasher()
            let live = try await hasher.hash("live password", sharingSaltOf: nil, for: .somebody)
            let decoy = try await hasher.hash("decoy password", sharingSaltOf: live, for: .somebody)
            let runs = pool.statistics.done
            #expect(try await hasher.match("decoy password", against: [live, decoy], for: .somebody)?.hash == decoy)
            #expect(try await hasher.match("live password", against: [live, decoy], for: .somebody)?.hash == live)
            #expect(try await hasher.match("neither", against: [live, decoy], for: .somebody) == nil)
            #expect(pool.statistics.done == runs + 3)
            await pool.shutdown()
        }

        @Test func `does not look at hashes of another salt`() async throws {
            let hasher = try hasher()
            let first = try await hasher.hash("first password", sharingSaltOf: nil, for: .somebody)
            let second = try await hasher.hash("second password", sharingSaltOf: nil, for: .somebody)
            #expect(try await hasher.match("second password", against: [first, second], for: .somebody) == nil)
            // The hash is not matched even if its tag is right.
            let sibling = try await hasher.hash("third password", sharingSaltOf: first, for: .somebody)
            let moved = PHCString(setup: try PHCString(second).setup, tag: try PHCString(sibling).tag).encoded
            #expect(try await hasher.match("third password", against: [first, moved], for: .somebody) == nil)
            await pool.shutdown()
        }

        @Test func `reuses parameters and pepper of a sibling that it can check`() async throws {
            let old = try PepperKeys(current: key("old"))
            let live = try await hasher(.init(memoryKiB: 32, iterations: 2, parallelism: 1), pepper: old)
                .hash("live password", sharingSaltOf: nil, for: .somebody)
            let rotated = try hasher(pepper: PepperKeys(current: key("new"), previous: [key("old")]))
            let decoy = try await rotated.hash("decoy password", sharingSaltOf: live, for: .somebody)
            #expect(try await rotated.match("decoy password", against: [live, decoy], for: .somebody)?.hash == decoy)

            let forgetful = try hasher(pepper: PepperKeys(current: key("new")))
            let fresh = try await forgetful.hash("decoy password", sharingSaltOf: live, for: .somebody)
            #expect(try await forgetful.match("decoy password", against: [fresh], for: .somebody)?.isOutdated == false)
            let unreadable = PasswordHash(phc: "$2b$12$abc")
            let other = try await forgetful.hash("decoy password", sharingSaltOf: unreadable, for: .somebody)
            #expect(try await forgetful.match("decoy password", against: [other], for: .somebody)?.isOutdated == false)
            await pool.shutdown()
        }

        @Test func `every match costs one run, whatever is stored`() async throws {
            let hasher = try hasher(pepper: PepperKeys(current: key("new")))
            let stranger = try self.hasher(pepper: PepperKeys(current: key("lost")))
            let good = try await hasher.hash("password", sharingSaltOf: nil, for: .somebody)
            let lost = try await stranger.hash("password", sharingSaltOf: nil, for: .somebody)
            // For an unknown pepper, the dummy run hashes the password without a pepper. Its result must still match
            // nothing.
            let bare = try await self.hasher().hash("password", sharingSaltOf: nil, for: .somebody)
            let disguised = PasswordHash(phc: bare.phc.replacing(",p=2$", with: ",p=2,keyid=bG9zdA$"))
            let broken = PasswordHash(phc: "$argon2id$v=19$m=4294967295,t=2,p=4$AAAA$AAAA")
            let cases: [(stored: [PasswordHash], matches: Bool)] = [
                ([], false), ([good], true), ([good, good, good], true), ([lost], false), ([lost, good], false),
                ([disguised], false), ([broken], false), ([broken, broken], false), ([broken, good], true),
            ]
            for (stored, matches) in cases {
                let runs = pool.statistics.done
                #expect((try await hasher.match("password", against: stored, for: .somebody) != nil) == matches)
                #expect(pool.statistics.done == runs + 1)
            }
            await pool.shutdown()
        }

        @Test func `a dummy run costs what the parameters in force cost`() async throws {
            let parameters = try Argon2Parameters(memoryKiB: 10 << 10, iterations: 1, parallelism: 1)
            MemoryRegions.shared.release(unusedFor: .zero)
            _ = try await hasher(parameters).match("password", against: [], for: .somebody)
            #expect(MemoryRegions.shared.idleCount == 1)
            let region = try #require(MemoryRegions.shared.take(10 << 20))
            #expect(MemoryRegions.shared.idleCount == 0)
            MemoryRegions.shared.giveBack(region, size: 10 << 20)
            MemoryRegions.shared.release(unusedFor: .zero)
            await pool.shutdown()
        }

        @Test func `a dummy run costs what the stored hashes cost`() async throws {
            let mix = ParameterMix()
            mix.replace(with: [(1, "m=10240,t=1,p=1", 1)])
            let hasher = PasswordHasher(parameters: try .tiny, mix: mix, pool: pool)
            let requester = HashingRequester(
                network: "192.0.2.1", subject: AttemptKey(bytes: [1, 2, 3, 4]), application: 1)
            MemoryRegions.shared.release(unusedFor: .zero)
            #expect(try await hasher.match("password", against: [], for: requester) == nil)
            let region = try #require(MemoryRegions.shared.take(10 << 20))
            #expect(MemoryRegions.shared.idleCount == 0, "the region of the run was used again")
            MemoryRegions.shared.giveBack(region, size: 10 << 20)
            MemoryRegions.shared.release(unusedFor: .zero)

            let pending = try await hasher.hashRegistration("password", sharingSaltOf: nil, for: requester)
            #expect(pending.phc.contains("$m=10240,t=1,p=1$"))
            #expect(try await hasher.match("password", against: [pending], for: requester)?.isOutdated == true)
            let decoy = try await hasher.hashRegistration("decoy password", sharingSaltOf: pending, for: requester)
            #expect(try await hasher.match("decoy password", against: [pending, decoy], for: requester)?.hash == decoy)
            let changed = try await hasher.hash("password", sharingSaltOf: nil, for: requester)
            #expect(try await hasher.match("password", against: [changed], for: requester)?.isOutdated == false)
            await pool.shutdown()
        }

        @Test func `rotates the pepper`() async throws {
            let (old, new) = try (key("old"), key("new"))
            let plain = try hasher()
            let before = try hasher(pepper: PepperKeys(current: old))
            let after = try hasher(pepper: PepperKeys(current: new, previous: [old]))
            let without = try hasher(pepper: PepperKeys(current: nil, previous: [old, new]))
            let hash = try await before.hash("password", sharingSaltOf: nil, for: .somebody)
            let unpeppered = try await plain.hash("password", sharingSaltOf: nil, for: .somebody)
            #expect(hash.phc.contains(",keyid=b2xk$"))

            #expect(try await before.match("password", against: [hash], for: .somebody)?.isOutdated == false)
            #expect(try await after.match("password", against: [hash], for: .somebody)?.isOutdated == true)
            #expect(try await after.match("passwore", against: [hash], for: .somebody) == nil)
            #expect(try await without.match("password", against: [hash], for: .somebody)?.isOutdated == true)
            #expect(try await after.match("password", against: [unpeppered], for: .somebody)?.isOutdated == true)
            #expect(try await plain.match("password", against: [hash], for: .somebody) == nil)
            let impostor = try hasher(pepper: PepperKeys(current: .init(id: old.id, secret: new.secret)))
            #expect(try await impostor.match("password", against: [hash], for: .somebody) == nil)
            await pool.shutdown()
        }

        @Test(arguments: [(32, 1, 2), (16, 2, 2), (16, 1, 1)] as [(UInt32, UInt32, UInt32)])
        func `reports a hash with other parameters as outdated`(memory: UInt32, iterations: UInt32, parallelism: UInt32)
            async throws
        {
            let other = try hasher(.init(memoryKiB: memory, iterations: iterations, parallelism: parallelism))
            let hash = try await other.hash("password", sharingSaltOf: nil, for: .somebody)
            #expect(try await other.match("password", against: [hash], for: .somebody)?.isOutdated == false)
            #expect(try await hasher().match("password", against: [hash], for: .somebody)?.isOutdated == true)
            await pool.shutdown()
        }

        @Test func `learns how fast the machine is without a job, and keeps no memory`() async throws {
            let pool = HashingPool(threads: 1, expectedDuration: .seconds(1000))
            MemoryRegions.shared.release(unusedFor: .zero)
            let hasher = PasswordHasher(parameters: try .tiny, pool: pool)
            await hasher.calibrate()
            let learnt = pool.statistics.averageDuration
            #expect(learnt > .zero && learnt < .seconds(1000))
            #expect(pool.statistics.done == 0)
            #expect(MemoryRegions.shared.idleCount == 0)

            // Measured durations replace the expected one.
            _ = try await hasher.match("password", against: [], for: .somebody)
            let seen = pool.statistics.averageDuration
            await pool.calibrate { .seconds(1000) }
            #expect(pool.statistics.averageDuration == seen)
            await pool.shutdown()
        }

        @Test func `passes an overload on`() async throws {
            let full = HashingPool(threads: 1, limits: .init(length: 0))
            let blockade = await Blockade(of: full)
            let hasher = PasswordHasher(parameters: try .tiny, pool: full)
            await #expect(throws: AccountsError.overloaded(retryAfter: .seconds(1))) {
                try await hasher.match("password", against: [], for: .somebody)
            }
            try await blockade.lift()
            await full.shutdown()
            await pool.shutdown()
        }
    }
}
