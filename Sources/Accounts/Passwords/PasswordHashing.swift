/// A password hash in PHC string form, the pepper's key id included when there is one:
/// `$argon2id$v=19$m=65536,t=2,p=4[,keyid=…]$salt$hash`.
package struct PasswordHash: Sendable, Hashable {
    package let phc: String

    package init(phc: String) {
        self.phc = phc
    }
}

/// The result of comparing a password with stored hashes.
package struct PasswordMatch: Sendable, Equatable {
    /// The first of the given hashes that the password matches.
    package let hash: PasswordHash
    /// The hash was made with parameters or a pepper that are no longer configured.
    package let isOutdated: Bool

    package init(hash: PasswordHash, isOutdated: Bool) {
        self.hash = hash
        self.isOutdated = isOutdated
    }
}

/// Slow, memory-hard hashing behind a bounded queue that is fair to its requesters.
///
/// Every call throws `AccountsError.overloaded` at once when the queue has no room for the requester, and
/// `CancellationError` when the client disconnects or the task is cancelled while the call waits.
package protocol PasswordHashing: Sendable {
    /// Checks at the beginning of a use case that the queue has room, before any statement runs. Reserves nothing.
    /// - Throws: `AccountsError.overloaded`.
    func requireCapacity(for requester: HashingRequester) throws

    /// Hashes a password. The hash shares the salt and parameters of `sibling`, so that one run later checks both.
    func hash(
        _ password: String, sharingSaltOf sibling: PasswordHash?, for requester: HashingRequester
    ) async throws -> PasswordHash

    /// Hashes the password of a registration, under the parameters that `match` runs with for this requester.
    ///
    /// Without a sibling these are the parameters that `match` chooses for a requester without hashes, so that neither
    /// call reveals whether the address has an account. The first sign-in hashes again under the configured parameters.
    func hashRegistration(
        _ password: String, sharingSaltOf sibling: PasswordHash?, for requester: HashingRequester
    ) async throws -> PasswordHash

    /// Compares a password with hashes in exactly one run of the function. Without hashes, it runs under parameters
    /// that are chosen for the subject among those of the application's stored passwords.
    ///
    /// Ignores hashes that do not share the salt and parameters of the first.
    func match(
        _ password: String, against hashes: [PasswordHash], for requester: HashingRequester
    ) async throws -> PasswordMatch?
}

/// Why a new password is refused.
///
/// The raw values are `details.reasons[]` on the wire.
package enum PasswordWeakness: String, Sendable, CaseIterable {
    case tooShort, tooLong, tooGuessable
}

/// Rules that a new password must meet before its strength is estimated.
package enum PasswordRules {
    /// In code points of the normalised password.
    ///
    /// The configuration can require more.
    package static let lengths = 8...256
    /// The fewest different characters: with fewer, even a long password is guessable.
    package static let differentCharacters = 5
}

package protocol PasswordPolicy: Sendable {
    /// Returns no weakness for a usable password. One that contains the person's name or address is guessable.
    func weaknesses(of password: String, personalWords: [String]) async -> [PasswordWeakness]
}
