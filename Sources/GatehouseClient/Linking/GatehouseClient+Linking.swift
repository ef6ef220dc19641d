internal import Foundation

extension GatehouseClient {
    /// Lists the ways in which the person can sign in to the account.
    /// - Returns: The identities; the one that opened this session is `current`.
    /// - Throws: `signedOut`, or another failure.
    public func identities() async throws(GatehouseError) -> [Identity] {
        struct List: Decodable { let identities: [Identity] }
        return try await value(of: .get("auth", "identities"), as: List.self).identities
    }

    /// Adds an identity to the account that is signed in; it needs a recent sign-in, unless the account is a guest's.
    ///
    /// A guest becomes permanent, with the same `uid` and session. For everyone else the link opens a new session, and
    /// that replaces this one here.
    /// - Parameters:
    ///   - proof: What shows that the identity is the person's; every kind but `.anonymous`.
    ///   - choice: What happens to a guest if the identity belongs to another account; `nil` is `.keep`.
    /// - Returns: `.linked`, or for a password `.mailed`: `verifyEmail(token:linking:)` then completes the link.
    /// - Throws: `refused` with `IDENTITY_IN_USE` and mostly a `mergeToken` for `merge`, with `TOKEN_TOO_OLD`, with
    ///   `LIMIT_REACHED`, or as for a sign-in; or another failure.
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

    /// Proves again who is signed in, after which calls that need a recent sign-in work again.
    ///
    /// The new session replaces this one here.
    /// - Parameter proof: A proof of an identity of this account.
    /// - Returns: The same person as before.
    /// - Throws: `refused` if the proof is wrong or another account's, or another failure; the session stays as it was.
    @discardableResult
    public func reauthenticate(_ proof: Proof) async throws(GatehouseError) -> SignedIn {
        let body = proof.body.merging(["provider": .string(proof.provider)]) { $1 }
        let (answer, signIn) = try await reopened(by: .post("auth", "reauthenticate", body: body, access: .bearer))
        return try await taken(answer, continuing: signIn, appleUser: proof.appleUser)
    }

    /// Removes an identity by its id; it needs a recent sign-in.
    ///
    /// Sessions that the identity opened end. Removing the last one deletes the account.
    /// - Parameter id: The identity's id.
    /// - Returns: Whether the account goes with it.
    /// - Throws: `refused` with `IDENTITY_NOT_FOUND`, with `LAST_USABLE_IDENTITY` if only identities would remain that
    ///   cannot sign in, or with `TOKEN_TOO_OLD`; or another failure.
    @discardableResult
    public func unlink(_ id: Identity.ID) async throws(GatehouseError) -> Unlinked {
        let isCurrent = try await identities().first { $0.id == id }?.current ?? false
        return try await unlink(id, isCurrent: isCurrent)
    }

    /// Removes the identity that opened this session, and signs out; otherwise like `unlink`.
    /// - Returns: Whether the account goes with it.
    /// - Throws: As `unlink`.
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

    /// Sends a code to a new e-mail address of an identity; it needs a recent sign-in.
    /// - Parameters:
    ///   - id: The identity's id.
    ///   - email: The new address.
    /// - Returns: The change, for `confirm`.
    /// - Throws: `refused` with `IDENTITY_NOT_FOUND` or `TOKEN_TOO_OLD`, or another failure.
    public func changeEmail(
        of id: Identity.ID, to email: String
    ) async throws(GatehouseError) -> AddressChange {
        try await changeAddress(of: id, "email", to: email)
    }

    /// Sends a code to a new phone number of an identity; it needs a recent sign-in.
    /// - Parameters:
    ///   - id: The identity's id.
    ///   - phone: The new number (E.164).
    /// - Returns: The change, for `confirm`.
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

    /// Completes a change of address with the code; the old address stays until then.
    /// - Parameters:
    ///   - change: What `changeEmail` or `changePhone` returned.
    ///   - code: The code that was sent.
    /// - Returns: The identity with its new address.
    /// - Throws: `refused` with `INVALID_CREDENTIALS` if the code is wrong or expired, or another failure.
    @discardableResult
    public func confirm(_ change: AddressChange, code: String) async throws(GatehouseError) -> Identity {
        let body: [String: JSON?] = ["challengeId": .string(change.sent.challengeId), "code": .string(code)]
        return try await value(
            of: .post("auth", "identities", change.identity, "address", "verify", body: body, access: .bearer))
    }

    /// A change of address whose code is on its way.
    public struct AddressChange: Sendable, Hashable {
        let identity: Identity.ID
        /// The code that was sent.
        public let sent: SentCode
    }
}
