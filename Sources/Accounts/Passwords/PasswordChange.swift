internal import Foundation
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

    /// Ends the account's other sessions.
    ///
    /// `current` may be left out, but must be right where it is given.
    package func change(
        to password: String, current: String?, by caller: Caller, from client: Client
    ) async throws {
        try hasher.requirePlace(for: PasswordAsker(client, subject: nil))
        try await decidingAgain {
            let identity = try await passwordIdentity(of: caller)
            let attempts = tokens.opaque.attemptKey(provider: identity.provider, subject: identity.subject)
            let asker = PasswordAsker(client, subject: attempts)
            if let current {
                try await check(current, of: identity, attempts: attempts, for: asker, by: caller, from: client)
            }
            let displayName = try await store.user(caller.uid, application: caller.application.id)?.displayName
            try await passwords.refuseWeak(password, of: identity.subject.address, displayName: displayName)
            let hash = try await hasher.hash(password, sharingSaltOf: nil, for: asker)
            try await write(hash, of: identity, checked: current != nil, by: caller)
        }
    }

    private struct Identity {
        let stored: PasswordIdentity
        let subject: PasswordSubject
        let provider: String
    }

    private func passwordIdentity(of caller: Caller) async throws -> Identity {
        let (configured, _) = try caller.application.providers.passwordProvider()
        let stored = try await store.passwordIdentity(
            of: caller.uid, provider: configured.name,
            preferring: caller.provider == configured.name ? caller.providerUid : nil,
            application: caller.application.id)
        guard let stored, let address = stored.email else { throw AccountsError.identityNotFound }
        return Identity(
            stored: stored, subject: PasswordSubject(providerUid: stored.providerUid, address: address),
            provider: configured.name)
    }

    private func check(
        _ current: String, of identity: Identity, attempts: AttemptKey, for asker: PasswordAsker, by caller: Caller,
        from client: Client
    ) async throws {
        let check = PasswordCheck(
            store: store, hasher: hasher, subject: identity.subject, provider: identity.provider, attempts: attempts,
            asker: asker, source: tokens.opaque.refusalSource(of: client), application: caller.application.id)
        _ = try await check.state()
        _ = try await check.match(current, against: [identity.stored.hash].compactMap { $0 })
        try await store.clearFailures(attempts, application: caller.application.id)
    }

    /// The session is judged again under its lock: hashing takes long, and a reset that ended the session meanwhile must
    /// not be undone by it.
    private func write(
        _ hash: PasswordHash, of identity: Identity, checked: Bool, by caller: Caller
    ) async throws {
        let application = caller.application.id
        let subject = identity.subject
        try await store.transaction { store in
            guard try await store.lockAccount(caller.uid, application: application) == .live,
                try await store.lockSession(caller.sessionID, of: caller.uid, application: application)
            else { throw AccountsError.invalidToken }
            try await store.setPassword(
                hash, of: identity.stored.id, replacing: checked ? identity.stored.hash : nil, application: application)
            try await store.evictUnprovenClaims(
                on: [.email(subject.address)], owner: caller.uid, application: application)
            try await store.concludePasswordChange(
                of: caller.uid, subject: subject, provider: identity.provider, keeping: caller.sessionID,
                application: application)
        }
    }
}

extension AccountsStore {
    /// What a new password ends: links that would set another, and every session but that one; the owner is told.
    func concludePasswordChange(
        of uid: UUID, subject: PasswordSubject, provider: String, keeping session: UUID, application: Int32
    ) async throws {
        try await discard(
            .passwordReset, provider: provider, providerUid: subject.providerUid, application: application)
        _ = try await endSessions(.allBut(session), of: uid, because: .passwordChanged, application: application)
        try await notify(ownerOf: uid, .passwordChanged, application: application)
    }
}
