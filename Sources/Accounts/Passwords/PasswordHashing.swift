/// A password hash in PHC string form, the pepper's key id included when there is one:
/// `$argon2id$v=19$m=65536,t=2,p=4[,keyid=…]$salt$hash`.
package struct PasswordHash: Sendable, Hashable {
    package let phc: String

    package init(phc: String) {
        self.phc = phc
    }
}

/// What hashing a typed password against stored hashes told.
package struct PasswordMatch: Sendable, Equatable {
    /// The first of the given hashes that the password matches.
    package let hash: PasswordHash
    /// The hash was made with other parameters, or under another pepper, than those in force.
    package let isOutdated: Bool

    package init(hash: PasswordHash, isOutdated: Bool) {
        self.hash = hash
        self.isOutdated = isOutdated
    }
}

/// Slow, memory-hard hashing behind a bounded queue, in which those who ask take turns.
///
/// Every call throws `AccountsError.overloaded` at once when there is no place for that requester, and `CancellationError`
/// when the requester leaves, or the task is cancelled, while it waits.
package protocol PasswordHashing: Sendable {
    /// For the beginning of a use case: whoever would be refused costs no statement.
    ///
    /// No place is kept.
    /// - Throws: `AccountsError.overloaded`.
    func requireCapacity(for requester: HashingRequester) throws

    /// The new hash takes over the salt and parameters of `sibling`, so that one run later checks a password against
    /// both.
    func hash(
        _ password: String, sharingSaltOf sibling: PasswordHash?, for requester: HashingRequester
    ) async throws -> PasswordHash

    /// Hashes the password of a registration, under the parameters that `match` runs with for this requester.
    ///
    /// Without a sibling these are the parameters that `match` draws for an requester without hashes. So neither call tells
    /// whether the address has an account. The first sign-in hashes again under the parameters in force.
    func hashRegistration(
        _ password: String, sharingSaltOf sibling: PasswordHash?, for requester: HashingRequester
    ) async throws -> PasswordHash

    /// Always costs exactly one run of the function: with no hashes at all, under parameters that the requester's subject
    /// draws from those of the application's stored passwords.
    ///
    /// Hashes that don't share the first one's salt and parameters are not looked at.
    func match(
        _ password: String, against hashes: [PasswordHash], for requester: HashingRequester
    ) async throws -> PasswordMatch?
}

/// Why a new password is refused; the raw values are `details.reasons[]` of the contract.
package enum PasswordWeakness: String, Sendable, CaseIterable {
    case tooShort, tooLong, tooGuessable
}

/// What a new password must be before its strength is estimated.
package enum PasswordRules {
    /// Counted in code points of the normalised password; an installation may demand more.
    package static let lengths = 8...256
    /// A password of fewer different characters is guessed soon, however long it is.
    package static let differentCharacters = 5
}

package protocol PasswordPolicy: Sendable {
    /// Nothing for a password that may be used; one that holds the person's own name or address is guessable.
    func weaknesses(of password: String, personalWords: [String]) async -> [PasswordWeakness]
}
