package import Foundation
internal import ProviderKit

/// The person's PIN, which unlocks a locked folder in a session for some minutes.
///
/// A PIN proves nothing that a sign-in would: it has few digits. So each try is counted before its hash is computed, and
/// a PIN that was wrong too often is void until the person has signed in again and sets a new one.
package struct PinCode: Sendable {
    package typealias Store = PinStore & PasswordAttemptStore & PasswordStore

    /// What shows that the caller may change or remove the PIN.
    package enum Proof: Sendable {
        case pin(String)
        /// The account's current password.
        case password(String)
    }

    package struct Status: Sendable, Equatable {
        /// Whether a PIN can unlock the session; a void one can't.
        package let hasPin: Bool
        package let hasPassword: Bool
        /// Until when the session is unlocked; `nil` if it is not.
        package let elevatedUntil: Date?
        package let sessionExpiresAt: Date
    }

    let store: any Store
    let hasher: any PasswordHashing
    let tokens: SessionTokens

    package init(store: any Store, hasher: any PasswordHashing, tokens: SessionTokens) {
        (self.store, self.hasher, self.tokens) = (store, hasher, tokens)
    }

    package func status(of principal: Principal) async throws -> Status {
        let state = try await state(of: owner(principal))
        return Status(
            hasPin: state.exists && !state.isVoid, hasPassword: state.hasPassword, elevatedUntil: state.elevatedUntil,
            sessionExpiresAt: state.sessionExpiresAt)
    }

    /// Sets the account's first PIN, or one in place of a void one if the sign-in is recent.
    ///
    /// With `replacing`, a recent sign-in may replace a valid PIN, too.
    /// - Throws: `AccountsError.existingPIN`; `.tokenTooOld` if the PIN is void and the sign-in is not recent.
    package func set(
        _ pin: String, replacing: Bool = false, by principal: Principal, from client: Client
    ) async throws {
        try principal.application.policy.pin.requireForm(of: pin, in: "pinCode")
        let owner = owner(principal, calling: client)
        let state = try await state(of: owner)
        let isRecent = principal.isRecent(at: tokens.time.now())
        let replaced: PinReplacement = isRecent ? (replacing ? .any : .void) : .none
        if state.exists, replaced != .any {
            guard state.isVoid else { throw AccountsError.existingPIN }
            guard isRecent else { throw AccountsError.tokenTooOld }
        }
        let hash = try await hash(pin, of: owner, from: client)
        guard try await store.setPin(hash, of: owner, replacing: replaced) else {
            throw try await refusal(.existingPIN, of: owner)
        }
    }

    /// Replaces the PIN of a caller who knows it or the password.
    package func change(to pin: String, showing proof: Proof, by principal: Principal, from client: Client)
        async throws
    {
        try principal.application.policy.pin.requireForm(of: pin, in: "newPinCode")
        let owner = owner(principal, calling: client)
        let former = try await require(proof, of: owner, by: principal, from: client)
        let hash = try await hash(pin, of: owner, from: client)
        guard try await store.setPin(hash, of: owner, replacing: former.map { .of($0) } ?? .any) else {
            throw try await refusal(.wrongPIN, of: owner)
        }
    }

    package func remove(showing proof: Proof, by principal: Principal, from client: Client) async throws {
        let owner = owner(principal, calling: client)
        let former = try await require(proof, of: owner, by: principal, from: client)
        guard try await store.removePin(former, of: owner) else { throw try await refusal(.pinNotSet, of: owner) }
    }

    /// Unlocks the principal's session for the configured time.
    package func unlock(with pin: String, by principal: Principal, from client: Client) async throws {
        let owner = owner(principal, calling: client)
        let hash = try await matching(pin, of: owner, from: client)
        let duration = principal.application.policy.pin.elevation
        guard try await store.elevate(owner, by: hash, for: duration) else { throw AccountsError.wrongPIN }
    }

    package func lock(_ principal: Principal) async throws { try await store.endElevation(of: owner(principal)) }

    // MARK: - Checks

    /// - Returns: the hash of the PIN that was shown; `nil` for a password.
    private func require(
        _ proof: Proof, of owner: PinOwner, by principal: Principal, from client: Client
    ) async throws -> PasswordHash? {
        switch proof {
        case .pin(let pin):
            return try await matching(pin, of: owner, from: client)
        case .password(let password):
            guard try await state(of: owner).exists else { throw AccountsError.pinNotSet }
            let check = CurrentPassword(store: store, hasher: hasher, opaque: tokens.opaque)
            try await check.require(password, of: principal, from: client)
            return nil
        }
    }

    /// Returns the hash of the PIN, if this is the PIN.
    ///
    /// A try is spent even if the client disconnects before its hash is computed.
    /// - Throws: `AccountsError.wrongPIN`, `.pinNotSet`, `.identityTemporarilyLocked`.
    private func matching(_ pin: String, of owner: PinOwner, from client: Client) async throws -> PasswordHash {
        try PinRules.requirePossible(pin, in: "pinCode")
        let requester = requester(owner, from: client)
        try hasher.requireCapacity(for: requester)
        guard let attempt = try await store.takePinTry(of: owner) else { throw try await reason(forRefusing: owner) }
        let keyed = tokens.opaque.keyed(pin: pin, of: owner.uid)
        guard try await hasher.match(keyed, against: [attempt.hash], for: requester) != nil else {
            try await store.recordWrongPin(attempt, of: owner)
            throw AccountsError.wrongPIN
        }
        return attempt.hash
    }

    private func reason(forRefusing owner: PinOwner) async throws -> AccountsError {
        let state = try await state(of: owner)
        guard state.exists, !state.isVoid else { return .pinNotSet }
        // If the lock has just ended, the client may try again at once.
        return .identityTemporarilyLocked(retryAfter: state.lockedFor ?? .seconds(1))
    }

    /// The error of a refused change, unless the reason is that the session has ended meanwhile.
    private func refusal(_ error: AccountsError, of owner: PinOwner) async throws -> AccountsError {
        _ = try await state(of: owner)
        return error
    }

    private func hash(_ pin: String, of owner: PinOwner, from client: Client) async throws -> PasswordHash {
        try await hasher.hash(
            tokens.opaque.keyed(pin: pin, of: owner.uid), sharingSaltOf: nil, for: requester(owner, from: client))
    }

    private func requester(_ owner: PinOwner, from client: Client) -> HashingRequester {
        HashingRequester(client, subject: owner.attempts, in: owner.application)
    }

    private func owner(_ principal: Principal, calling client: Client? = nil) -> PinOwner {
        PinOwner(principal, attempts: tokens.opaque.pinAttempts(of: principal.uid), dialect: client?.dialect)
    }

    private func state(of owner: PinOwner) async throws -> PinState {
        guard let state = try await store.pinState(of: owner) else { throw AccountsError.invalidToken }
        return state
    }
}
