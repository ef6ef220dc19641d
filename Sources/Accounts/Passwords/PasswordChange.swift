internal import Foundation
internal import ProviderKit

package struct PasswordChange: Sendable {
    typealias Store = ProfileStore & AccountLocks & AddressClaimStore & PasswordAttemptStore & PasswordStore
        & PasswordChangeEffects.Store & RoleIdentityStore

    let store: any TransactionalStore & Store
    let hasher: any PasswordHashing
    let passwords: any PasswordPolicy
    let tokens: SessionTokens

    /// Replaces the password of every identity of the account that has one, and ends the account's other sessions.
    ///
    /// If the account has no password, one is set for the identity that the principal signed in with, or else for the
    /// first identity with an address. `current` is optional, but must be correct if given; only then can other sessions
    /// be kept. With `isOfNewAccount`, the owner is not notified of the account's first password, which belongs to the
    /// sign-in that made the account.
    /// - Throws: `AccountsError.otherIdentityRequired`.
    package func change(
        to password: String, current: String?, endingOthers: Bool = true, isOfNewAccount: Bool = false,
        by principal: Principal, from client: Client
    ) async throws {
        try await retryingOnConflict {
            let identities = try await changing(by: principal)
            // The principal's identity comes first if it has a password.
            guard let checked = identities.first(where: { $0.hash != nil }) ?? identities.first else {
                throw AccountsError.identityNotFound
            }
            let provider = try principal.application.providers.passwordProvider().0.name
            let check = PasswordCheck(
                of: checked.subject, provider: provider, from: client, in: principal.application,
                opaque: tokens.opaque, hasher: hasher, store: store)
            if let current { try await check.require(current, matching: checked.hash) }
            let displayName = try await store.user(principal.uid, application: principal.application.id)?.displayName
            try await passwords.refuseWeak(password, of: identities.map(\.subject.address), displayName: displayName)
            var changes = try await changes(of: identities, to: password, for: check.requester)
            if current == nil, let index = changes.firstIndex(where: { $0.identity.id == checked.id }) {
                changes[index].expected = nil
            }
            let isFirst = isOfNewAccount && identities.allSatisfy { $0.hash == nil }
            try await write(
                changes, of: provider, by: principal, endingOthers: endingOthers || current == nil,
                notifying: !isFirst)
        }
    }

    private struct Change: Sendable {
        let identity: PasswordIdentity
        let hash: PasswordHash
        /// The hash that must still be stored when it is replaced; `nil` replaces any hash.
        var expected: PasswordHash?
    }

    /// Returns the identities whose password changes: the first one, and all others that have a password.
    private func changing(by principal: Principal) async throws -> [PasswordIdentity] {
        let identities = try await store.passwordIdentities(of: principal)
        return Array(identities.prefix(1)) + identities.dropFirst().filter { $0.hash != nil }
    }

    /// Hashes the new password once for all identities without a decoy, and with the decoy's salt for every other one.
    private func changes(
        of identities: [PasswordIdentity], to password: String, for requester: HashingRequester
    ) async throws -> [Change] {
        var common: PasswordHash?
        var changes: [Change] = []
        for identity in identities {
            let hash: PasswordHash
            if identity.decoy == nil, let common {
                hash = common
            } else {
                hash = try await hasher.hash(password, sharingSaltOf: identity.decoy, for: requester)
                if identity.decoy == nil { common = hash }
            }
            changes.append(Change(identity: identity, hash: hash, expected: identity.hash))
        }
        return changes
    }

    /// Writes the new hashes, unless a password reset ended the session during the hashing, and revokes other access.
    /// - Throws: `StoreConflict` if an identity has moved to another account during the hashing.
    private func write(
        _ changes: [Change], of provider: String, by principal: Principal, endingOthers: Bool, notifying: Bool
    ) async throws {
        let application = principal.application.id
        let subjects = changes.map(\.identity.subject)
        try await store.transaction { store in
            guard try await store.lock(principal) else { throw AccountsError.invalidToken }
            try await store.requireReach(of: principal, to: changes.map(\.identity.id))
            for change in changes {
                try await store.setPassword(
                    change.hash, of: change.identity.id, ownedBy: principal.uid, replacing: change.expected,
                    application: application)
            }
            try await store.evictUnprovenClaims(
                on: subjects.map { .email($0.address) }, owner: principal.uid, application: application)
            try await PasswordChangeEffects(store: store).apply(
                to: principal.uid, subjects: subjects, provider: provider, keeping: principal.sessionID,
                endingOthers: endingOthers, notifying: notifying, application: application)
        }
    }
}

struct PasswordChangeEffects: Sendable {
    typealias Store = ProofStore & SessionEndStore & ElevationStore & OwnerNotices.Store

    let store: any Store

    /// Discards mailed reset links, ends elevations and all sessions except `session`, and notifies the owner.
    func apply(
        to uid: UUID, subjects: [PasswordSubject], provider: String, keeping session: UUID, endingOthers: Bool = true,
        notifying: Bool = true, application: Application.ID
    ) async throws {
        for subject in subjects {
            try await store.discard(
                .passwordReset, provider: provider, providerUid: subject.providerUid, application: application)
        }
        if endingOthers {
            try await store.endSessions(.allBut(session), of: uid, because: .passwordChanged, application: application)
        }
        try await store.endElevations(of: uid, application: application)
        guard notifying else { return }
        try await OwnerNotices(store: store, application: application).send(.passwordChanged, toOwnerOf: uid)
    }
}
