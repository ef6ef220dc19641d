package import Foundation

/// Locks rows of accounts until the transaction ends.
package protocol AccountLocks: Sendable {
    /// Locks the account; until the transaction ends, no other transaction can open a session of the account.
    /// - Returns: `nil` for an unknown account.
    func lockAccount(_ uid: UUID, application: Application.ID) async throws -> AccountStatus?

    /// Locks accounts in the order of their uids, which every transaction uses, and then a session, if one is given.
    ///
    /// A session that has ended is not locked. Whether the accounts exist and are live must be read afterwards.
    func lock(_ accounts: Set<UUID>, session: UUID?, application: Application.ID) async throws

    /// Prevents other transactions from ending a live session of the account, which is locked first.
    /// - Returns: `false` when the session has ended.
    func lockSession(_ session: UUID, of uid: UUID, application: Application.ID) async throws -> Bool
}

extension AccountLocks {
    /// Locks the principal's account and session.
    /// - Returns: `false` when the session has ended or the account is not live.
    func lock(_ principal: Principal) async throws -> Bool {
        let application = principal.application.id
        guard try await lockAccount(principal.uid, application: application) == .live else { return false }
        return try await lockSession(principal.sessionID, of: principal.uid, application: application)
    }
}

extension AccountLocks where Self: IdentityStore {
    /// Locks the account that has the identity, which a provider's name and `providerUid` specify.
    /// - Returns: `nil` for an unknown identity.
    /// - Throws: `StoreConflict` if the identity moved to another account before the lock.
    func lockIdentity(
        _ provider: String, _ providerUid: String, application: Application.ID
    ) async throws -> KnownIdentity? {
        guard let seen = try await knownIdentity(provider, providerUid, application: application),
            try await lockAccount(seen.uid, application: application) != nil,
            let identity = try await knownIdentity(provider, providerUid, application: application)
        else { return nil }
        guard identity.uid == seen.uid else { throw StoreConflict() }
        return identity
    }
}
