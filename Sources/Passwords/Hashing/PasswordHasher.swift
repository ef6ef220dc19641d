package import Accounts
internal import ProviderKit

/// Hashes normalised, optionally peppered passwords with Argon2id in a `HashingPool`, with one run for each call.
package struct PasswordHasher: PasswordHashing {
    private let parameters: Argon2Parameters
    private let pepper: PepperKeys
    private let mix: ParameterMix
    private let pool: HashingPool
    private let randomBytes: @Sendable (Int) -> [UInt8]
    /// The salt for runs without a stored hash.
    private let dummySalt: [UInt8]

    /// `randomBytes` must be cryptographically secure, like Swift's own generator.
    package init(
        parameters: Argon2Parameters = .standard, pepper: PepperKeys = .none, mix: ParameterMix = ParameterMix(),
        pool: HashingPool,
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = { count in (0..<count).map { _ in .random(in: 0...255) } }
    ) {
        self.parameters = parameters
        self.pepper = pepper
        self.mix = mix
        self.pool = pool
        self.randomBytes = randomBytes
        dummySalt = randomBytes(Argon2Parameters.saltLength)
    }

    package func reserve(for requester: HashingRequester) throws -> HashingPlace { try pool.reserve(for: requester) }
    package func giveBack(_ place: HashingPlace) { pool.giveBack(place) }
    package func requireCapacity(for requester: HashingRequester) throws { try pool.requireCapacity(for: requester) }

    package func hash(
        _ password: String, sharingSaltOf sibling: PasswordHash?, for requester: HashingRequester
    ) async throws -> PasswordHash {
        try await hash(password, under: sibling.flatMap(reusableSetup) ?? freshSetup(parameters), for: requester)
    }

    package func hashRegistration(
        _ password: String, sharingSaltOf sibling: PasswordHash?, for requester: HashingRequester
    ) async throws -> PasswordHash {
        let setup = sibling.flatMap(reusableSetup) ?? freshSetup(unknownParameters(for: requester))
        return try await hash(password, under: setup, for: requester)
    }

    private func hash(
        _ password: String, under setup: PHCString.Setup, for requester: HashingRequester
    ) async throws -> PasswordHash {
        PHCString(setup: setup, tag: try await tag(of: password, under: setup, for: requester)).encoded
    }

    package func match(
        _ password: String, against hashes: [PasswordHash], for requester: HashingRequester
    ) async throws -> PasswordMatch? {
        let stored = hashes.compactMap { try? PHCString($0) }
        let setup = stored.first?.setup ?? dummySetup(for: requester)
        let tag = try await tag(of: password, under: setup, for: requester)
        guard knowsPepper(of: setup) else { return nil }

        // All tags are compared, so that the time does not reveal which one matched.
        let matching = stored.filter { $0.setup == setup && ConstantTime.areEqual($0.tag, tag) }
        return matching.first.map { PasswordMatch(hash: $0.encoded, isOutdated: isOutdated(setup)) }
    }

    /// Measures how long a run takes, so that the queue is limited correctly from the first request on.
    ///
    /// The measurement uses an eighth of the memory, so that an idle server stays small, and scales the time
    /// accordingly. All threads run at once, because they share the memory's bandwidth.
    package func calibrate() async {
        let share = max(parameters.memoryKiB / 8, 8 * parameters.parallelism)
        guard
            let small = try? Argon2Parameters(
                memoryKiB: share, iterations: parameters.iterations, parallelism: parameters.parallelism)
        else { return }
        let setup = PHCString.Setup(parameters: small, pepperID: nil, salt: dummySalt)
        let secret = PasswordSecret("", pepper: nil)
        let scale = Double(parameters.memoryKiB) / Double(share)
        await pool.calibrate { try ContinuousClock().measure { _ = try Argon2.tag(of: secret, under: setup) } * scale }
    }

    /// Runs Argon2id for a requester; if the pepper is unknown, the password is hashed without one.
    private func tag(
        of password: String, under setup: PHCString.Setup, for requester: HashingRequester
    ) async throws -> [UInt8] {
        let secret = PasswordSecret(password, pepper: setup.pepperID.flatMap(pepper.secret(of:)))
        do {
            return try await pool.run(for: requester) { try Argon2.tag(of: secret, under: setup) }
        } catch PasswordsError.outOfMemory { throw AccountsError.overloaded(retryAfter: .seconds(1)) }
    }

    /// The parameters for a run without a stored hash, chosen so that it takes as long as a run with one.
    private func unknownParameters(for requester: HashingRequester) -> Argon2Parameters {
        mix.parameters(for: requester) ?? parameters
    }

    private func dummySetup(for requester: HashingRequester) -> PHCString.Setup {
        PHCString.Setup(parameters: unknownParameters(for: requester), pepperID: pepper.current, salt: dummySalt)
    }

    private func freshSetup(_ parameters: Argon2Parameters) -> PHCString.Setup {
        PHCString.Setup(
            parameters: parameters, pepperID: pepper.current, salt: randomBytes(Argon2Parameters.saltLength))
    }

    private func reusableSetup(of sibling: PasswordHash) -> PHCString.Setup? {
        guard let setup = try? PHCString(sibling).setup, knowsPepper(of: setup) else { return nil }
        return setup
    }

    private func knowsPepper(of setup: PHCString.Setup) -> Bool {
        setup.pepperID.map { pepper.secret(of: $0) != nil } ?? true
    }

    private func isOutdated(_ setup: PHCString.Setup) -> Bool {
        setup.parameters != parameters || setup.pepperID != pepper.current
            || setup.salt.count < Argon2Parameters.saltLength || setup.tagLength != Argon2Parameters.tagLength
    }
}
