internal import ProviderKit

/// Checks passwords that a client presents for one subject, and counts failures.
struct PasswordCheck: Sendable {
    let subject: PasswordSubject
    let provider: String
    let attempts: AttemptKey
    let requester: HashingRequester
    /// The source under which a wrong password is counted in the audit if the subject has no account.
    let source: RefusalSource
    let application: Application.ID
    let hasher: any PasswordHashing
    let store: any PasswordAttemptStore

    init(
        of subject: PasswordSubject, provider: String, from client: Client, in application: Application,
        opaque: any OpaqueTokens, hasher: any PasswordHashing, store: any PasswordAttemptStore
    ) {
        (self.subject, self.provider) = (subject, provider)
        attempts = opaque.attemptKey(provider: provider, subject: subject)
        requester = HashingRequester(client, subject: attempts, in: application.id)
        source = opaque.refusalSource(of: client)
        self.application = application.id
        (self.hasher, self.store) = (hasher, store)
    }

    /// Reads the state; with `store`, in its transaction.
    func state(in store: (any PasswordAttemptStore)? = nil) async throws -> PasswordState {
        try await (store ?? self.store).passwordState(
            of: subject, provider: provider, attempts: attempts, application: application)
    }

    /// - Throws: `AccountsError.identityTemporarilyLocked`.
    @discardableResult
    func unlockedState(in store: (any PasswordAttemptStore)? = nil) async throws -> PasswordState {
        let state = try await state(in: store)
        if let lockedFor = state.lockedFor { throw AccountsError.identityTemporarilyLocked(retryAfter: lockedFor) }
        return state
    }

    /// Runs one hash, and counts a failure if the password is wrong.
    /// - Throws: `AccountsError.invalidCredentials`, or `identityTemporarilyLocked` if the subject was locked in the
    ///   meantime, because the response to a wrong password must be the same as to the correct one.
    @discardableResult
    func match(_ password: String, against hashes: [PasswordHash]) async throws -> PasswordMatch {
        if let match = try await hasher.match(password, against: hashes, for: requester) { return match }
        let isCounted = try await store.recordFailure(
            attempts, of: subject, provider: provider, from: source, application: application)
        if !isCounted { try await unlockedState() }
        throw AccountsError.invalidCredentials
    }

    /// Checks a password against one hash, and clears the count of failures.
    ///
    /// A password that was right while the subject was being locked is refused, so that guesses at the same time get no
    /// more tries than one after the other.
    func require(_ password: String, matching hash: PasswordHash?) async throws {
        try await unlockedState()
        try await match(password, against: [hash].compactMap(\.self))
        try await unlockedState()
        try await store.clearFailures(attempts, application: application)
    }
}
