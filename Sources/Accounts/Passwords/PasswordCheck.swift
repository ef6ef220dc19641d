internal import ProviderKit

/// Checking a typed password for one subject: locked or not, one hash, every failure counted.
struct PasswordCheck: Sendable {
    let store: any PasswordAttemptStore
    let hasher: any PasswordHashing
    let subject: PasswordSubject
    let provider: String
    let attempts: AttemptKey
    let requester: HashingRequester
    /// Where a wrong password is counted if the subject has no account.
    let source: RefusalSource
    let application: Application.ID

    /// - Throws: `AccountsError.identityTemporarilyLocked`.
    func state() async throws -> PasswordState {
        let state = try await store.passwordState(
            of: subject, provider: provider, attempts: attempts, application: application)
        if let lockedFor = state.lockedFor {
            throw AccountsError.identityTemporarilyLocked(retryAfter: lockedFor)
        }
        return state
    }

    /// - Throws: `AccountsError.invalidCredentials`, or `identityTemporarilyLocked` where others have failed so often
    ///   meanwhile that even the right password would be refused: a wrong one must not look different.
    func match(_ password: String, against hashes: [PasswordHash]) async throws -> PasswordMatch {
        if let match = try await hasher.match(password, against: hashes, for: requester) { return match }
        let isCounted = try await store.recordFailure(
            attempts, of: subject, provider: provider, from: source, application: application)
        if !isCounted { _ = try await state() }
        throw AccountsError.invalidCredentials
    }
}
