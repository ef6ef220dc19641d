internal import ProviderKit

/// A new password for somebody who is signed in.
package struct PasswordChange: Sendable {
    private let store: any TransactionalStore
    private let hasher: any PasswordHashing
    private let passwords: any PasswordPolicy
    private let tokens: SessionTokens

    package init(
        store: any TransactionalStore, hasher: any PasswordHashing, passwords: any PasswordPolicy,
        tokens: SessionTokens
    ) {
        self.store = store
        self.hasher = hasher
        self.passwords = passwords
        self.tokens = tokens
    }

    /// Ends the account's other sessions. `current` may be left out, but must be right where it is given.
    package func change(to password: String, current: String?, by caller: Caller) async throws {
        let application = caller.application
        let (configured, _) = try application.providers.passwordProvider()
        guard
            let identity = try await store.passwordIdentity(
                of: caller.uid, provider: configured.name, application: application.id),
            let address = identity.email
        else { throw AccountsError.identityNotFound }
        let subject = PasswordSubject(providerUid: identity.providerUid, address: address)
        if let current {
            try await check(current, of: identity, subject: subject, provider: configured.name, in: application)
        }
        let displayName = try await store.user(caller.uid, application: application.id)?.displayName
        try await passwords.refuseWeak(password, of: address, displayName: displayName)
        let hash = try await hasher.hash(password, sharingSaltOf: nil)
        try await store.transaction { store in
            guard try await store.lockAccount(caller.uid, application: application.id) == .live else {
                throw AccountsError.invalidToken
            }
            try await store.setPassword(
                hash, of: identity.id, replacing: current == nil ? nil : identity.hash, application: application.id)
            try await store.discardRegistrations(of: address, application: application.id)
            _ = try await store.endSessions(
                .allBut(caller.sessionID), of: caller.uid, because: .passwordChanged, application: application.id)
            try await store.enqueue([Message(.passwordChanged, to: address)], application: application.id)
        }
    }

    private func check(
        _ current: String, of identity: PasswordIdentity, subject: PasswordSubject, provider: String,
        in application: Application
    ) async throws {
        let attempts = tokens.opaque.attemptKey(provider: provider, subject: subject)
        let state = try await store.passwordState(
            of: subject, provider: provider, attempts: attempts, application: application.id)
        if let lockedFor = state.lockedFor {
            throw AccountsError.identityTemporarilyLocked(retryAfter: lockedFor)
        }
        let hashes = [identity.hash].compactMap { $0 }
        guard try await hasher.match(current, against: hashes) != nil else {
            try await store.recordFailure(attempts, application: application.id)
            throw AccountsError.invalidCredentials
        }
    }
}
