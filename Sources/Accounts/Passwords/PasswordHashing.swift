/// A password hash as a PHC string, with the key id of the pepper if there is one:
/// `$argon2id$v=19$m=65536,t=2,p=4[,keyid=…]$salt$hash`.
package struct PasswordHash: Sendable, Hashable {
    package let phc: String

    package init(phc: String) { self.phc = phc }
}

package struct PasswordMatch: Sendable, Equatable {
    /// The first of the given hashes that the password matches.
    package let hash: PasswordHash
    /// Whether the hash was made with parameters or a pepper that are no longer configured.
    package let isOutdated: Bool

    package init(hash: PasswordHash, isOutdated: Bool) { (self.hash, self.isOutdated) = (hash, isOutdated) }
}

/// Slow, memory-hard hashing behind a bounded queue that is fair to its requesters.
///
/// Every call throws `AccountsError.overloaded` immediately if the queue has no room for the requester, and
/// `CancellationError` if the client disconnects or the task is cancelled while the call waits. The first call of a
/// requester with a place uses that place.
package protocol PasswordHashing: Sendable {
    /// Reserves a place in the queue before a call runs SQL, so that a refused call costs no statement.
    ///
    /// The caller gives the place back when the call ends, whether it was used or not.
    /// - Throws: `AccountsError.overloaded`.
    func reserve(for requester: HashingRequester) throws -> HashingPlace

    /// Gives a place back; does nothing if it was used.
    func giveBack(_ place: HashingPlace)

    /// Checks that the queue has room for a requester whose subject has become known.
    ///
    /// The requester's place, if it has one, is counted for the subject from then on.
    /// - Throws: `AccountsError.overloaded`.
    func requireCapacity(for requester: HashingRequester) throws

    /// The hash has the salt and parameters of `sibling`, so that one later run of the function checks both.
    func hash(
        _ password: String, sharingSaltOf sibling: PasswordHash?, for requester: HashingRequester
    ) async throws -> PasswordHash

    /// Hashes the password of a registration with the parameters that `match` uses for this requester.
    ///
    /// Without a sibling these are the parameters that `match` chooses if there are no hashes, so that neither call
    /// reveals whether the address has an account. The first sign-in hashes again with the configured parameters.
    func hashRegistration(_ password: String, sharingSaltOf sibling: PasswordHash?, for requester: HashingRequester)
        async throws -> PasswordHash

    /// Compares a password with hashes in exactly one run of the function.
    ///
    /// Hashes that do not share the salt and parameters of the first one are ignored. If there are no hashes, the
    /// function runs with parameters that are chosen for the subject from those of the application's stored passwords,
    /// so that the time does not reveal whether the subject has a password.
    /// - Returns: `nil` if the password matches none of the hashes.
    func match(
        _ password: String, against hashes: [PasswordHash], for requester: HashingRequester
    ) async throws -> PasswordMatch?
}

/// The reason for which a new password is refused; the raw values are in `details.reasons` of the error response.
package enum PasswordWeakness: String, Sendable, CaseIterable { case tooShort, tooLong, tooGuessable }

/// Rules that a new password must meet before its strength is estimated.
package enum PasswordRules {
    /// The allowed lengths in code points of the normalised password; the configuration can raise the minimum.
    package static let lengths = 8...256
    /// The minimum number of different characters; with fewer, even a long password is guessable.
    package static let differentCharacters = 5
}

package protocol PasswordPolicy: Sendable {
    /// Returns the weaknesses of a password, which is guessable if it contains `personalWords` (name, addresses).
    func weaknesses(of password: String, personalWords: [String]) async -> [PasswordWeakness]
}
