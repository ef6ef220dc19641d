internal import ProviderKit

/// Checks a typed password for one subject: refuses a locked subject, runs one hash, counts every failure.
struct PasswordCheck: Sendable {
    let store: any PasswordAttemptStore
    let hasher: any PasswordHashing
    let subject: PasswordSubject
    let provider: String
    let attempts: AttemptKey
    let requester: HashingRequester
    /// Counts a wrong password if the subject has no account.
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

    /// - Throws: `AccountsError.invalidCredentials`, or `identityTemporarilyLocked` if the subject was locked since: the
    ///   right password would be refused too, and a wrong one must look the same.
    func match(_ password: String, against hashes: [PasswordHash]) async throws -> PasswordMatch {
        if let match = try await hasher.match(password, against: hashes, for: requester) { return match }
        let isCounted = try await store.recordFailure(
            attempts, of: subject, provider: provider, from: source, application: application)
        if !isCounted { _ = try await state() }
        throw AccountsError.invalidCredentials
    }
}
