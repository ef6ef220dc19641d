internal import Foundation

extension GatehouseClient {
    /// Lists the ways in which the person can sign in to the account.
    /// - Returns: The identities; the one that opened this session is `current`.
    /// - Throws: `signedOut`, or another failure.
    public func identities() async throws(GatehouseError) -> [Identity] {
        struct List: Decodable { let identities: [Identity] }
        return try await value(of: .get("auth", "identities"), as: List.self).identities
    }

    /// Adds an identity to the account that is signed in; requires a recent sign-in, unless the account is a guest's.
    ///
    /// A guest's account becomes permanent, with the same `uid` and session. For every other account the link opens a
    /// new session, which replaces the client's present one.
    /// - Parameters:
    ///   - proof: Proves that the identity is the person's; every kind except `.anonymous`.
    ///   - choice: What happens to a guest's account if the identity belongs to another account; `nil` is `.keep`.
    /// - Returns: `.linked`; for a password `.mailed`: `verifyEmail` with `linking: true` then completes the link.
    /// - Throws: `refused` with `IDENTITY_IN_USE` and, if a merge is possible, a `mergeToken` for `merge`; with
    ///   `TOKEN_TOO_OLD`, `LIMIT_REACHED` or a code of `signIn`; or another failure.
    @discardableResult
    public func link(
        _ proof: Proof, onConflict choice: ConflictChoice? = nil
    ) async throws(GatehouseError) -> Linked {
        var body = proof.body
        body["onConflict"] = choice.map { .string($0.rawValue) }
        let call = Call.post("auth", "identities", proof.provider, body: body, access: .bearer)
        let (answer, signIn) = try await reopened(by: call)
        if answer.status == 202 { return .mailed(email: try answer.decoded(as: MailedResponse.self).email) }
        return .linked(try await taken(answer, continuing: signIn, appleUser: proof.appleUser))
    }

    /// Signs the same person in again, for calls that require a recent sign-in.
    ///
    /// The new session replaces the client's present one.
    /// - Parameter proof: A proof of an identity of this account.
    /// - Returns: The new session of the same account.
    /// - Throws: `refused` if the proof is wrong or belongs to another account, or another failure; the session is then
    ///   unchanged.
    @discardableResult
    public func reauthenticate(_ proof: Proof) async throws(GatehouseError) -> SignedIn {
        let body = proof.body.merging(["provider": .string(proof.provider)]) { $1 }
        let (answer, signIn) = try await reopened(by: .post("auth", "reauthenticate", body: body, access: .bearer))
        return try await taken(answer, continuing: signIn, appleUser: proof.appleUser)
    }

    /// Removes an identity by its id; requires a recent sign-in.
    ///
    /// The sessions that the identity opened end. If it is the last identity, the account is deleted.
    /// - Parameter id: The identity's id.
    /// - Returns: Whether only the identity was removed, or the account was deleted, too.
    /// - Throws: `refused` with `IDENTITY_NOT_FOUND`, with `LAST_USABLE_IDENTITY` if no identity would remain with
    ///   which the person can sign in, or with `TOKEN_TOO_OLD`; or another failure.
    @discardableResult
    public func unlink(_ id: Identity.ID) async throws(GatehouseError) -> Unlinked {
        let isCurrent = try await identities().first { $0.id == id }?.current ?? false
        return try await unlink(id, isCurrent: isCurrent)
    }

    /// Removes the identity that opened this session, and signs out; otherwise it works as `unlink`.
    /// - Returns: Whether only the identity was removed, or the account was deleted, too.
    /// - Throws: The same errors as `unlink`.
    @discardableResult
    public func unlinkCurrent() async throws(GatehouseError) -> Unlinked {
        try await unlink("current", isCurrent: true)
    }

    private func unlink(_ id: String, isCurrent: Bool) async throws(GatehouseError) -> Unlinked {
        struct Removal: Decodable { let accountDeleted: Bool }
        let signIn = try await keeper.currentSignIn()
        let answer = try await answer(to: .delete("auth", "identities", id))
        guard try answer.decoded(as: Removal.self).accountDeleted else {
            if isCurrent { await keeper.end(.identityRemoved, of: signIn) }
            return .unlinked
        }
        await keeper.end(.accountDeleted, of: signIn)
        return .accountDeleted(receipt: answer.receipt)
    }

    /// Sends a code to the new e-mail address of an identity; requires a recent sign-in.
    /// - Parameters:
    ///   - id: The identity's id.
    ///   - email: The new address.
    /// - Returns: The change, to pass to `confirm` with the code.
    /// - Throws: `refused` with `IDENTITY_NOT_FOUND` or `TOKEN_TOO_OLD`, or another failure.
    public func changeEmail(
        of id: Identity.ID, to email: String
    ) async throws(GatehouseError) -> AddressChange {
        try await changeAddress(of: id, "email", to: email)
    }

    /// Sends a code to the new phone number of an identity; requires a recent sign-in.
    /// - Parameters:
    ///   - id: The identity's id.
    ///   - phone: The new number (E.164).
    /// - Returns: The change, to pass to `confirm` with the code.
    /// - Throws: `refused` with `IDENTITY_NOT_FOUND` or `TOKEN_TOO_OLD`, or another failure.
    public func changePhone(
        of id: Identity.ID, to phone: String
    ) async throws(GatehouseError) -> AddressChange {
        try await changeAddress(of: id, "phone", to: phone)
    }

    private func changeAddress(
        of id: String, _ kind: String, to address: String
    ) async throws(GatehouseError) -> AddressChange {
        let call = Call.post("auth", "identities", id, "address", body: [kind: .string(address)], access: .bearer)
        let sent = try await value(of: call, as: CodeResponse.self)
        return AddressChange(identity: id, sent: sent.code(of: kind, provider: nil, isBound: true))
    }

    /// Completes a change of address with the code; until then the old address stays valid.
    /// - Parameters:
    ///   - change: The change from `changeEmail` or `changePhone`.
    ///   - code: The code that the person entered.
    /// - Returns: The identity with its new address.
    /// - Throws: `refused` with `INVALID_CREDENTIALS` if the code is wrong or expired, or another failure.
    @discardableResult
    public func confirm(_ change: AddressChange, code: String) async throws(GatehouseError) -> Identity {
        let body: [String: JSON?] = ["challengeId": .string(change.sent.challengeId), "code": .string(code)]
        return try await value(
            of: .post("auth", "identities", change.identity, "address", "verify", body: body, access: .bearer))
    }

    /// A change of address that waits for its code.
    public struct AddressChange: Sendable, Hashable {
        let identity: Identity.ID
        /// The code that was sent.
        public let sent: SentCode
    }
}
