public import Foundation

extension GatehouseClient {
    /// Fetches the account; if it differs from the stored one, `changes` reports the new one.
    /// - Returns: The account.
    /// - Throws: `signedOut`, or another failure.
    @discardableResult
    public func user() async throws(GatehouseError) -> User {
        try await updated(by: .get("auth", "me"))
    }

    /// Changes the account; a parameter that is `nil` leaves its value unchanged.
    /// - Parameters:
    ///   - displayName: The name to show.
    ///   - metadata: The app's own data of the account; it replaces the previous metadata as a whole.
    /// - Returns: The changed account.
    /// - Throws: `refused` with `INVALID_PARAMETER`, for example if the metadata is too large, or another failure.
    @discardableResult
    public func updateUser(
        displayName: String? = nil, metadata: [String: JSON]? = nil
    ) async throws(GatehouseError) -> User {
        let body: [String: JSON?] = [
            "displayName": displayName.map { .string($0) }, "metadata": metadata.map { .object($0) },
        ]
        return try await updated(by: .post("auth", "me", body: body, access: .bearer).changed { $0.method = "PATCH" })
    }

    private func updated(by call: Call) async throws(GatehouseError) -> User {
        let signIn = try await keeper.currentSignIn()
        let user = try await value(of: call, as: User.self)
        await keeper.update(user, of: signIn)
        return user
    }

    // MARK: - Deletion

    /// A receipt of a deletion, to pass to `erasure(_:)`.
    public struct Receipt: Sendable, Hashable, Codable {
        /// The receipt's id.
        public let id: String

        /// Creates a receipt from an id that the app has stored.
        public init(id: String) { self.id = id }
    }

    /// The progress of a deletion.
    public struct Erasure: Sendable, Hashable, Codable {
        /// The state: `scheduled`, `restored` or `erased`.
        public let status: String
        /// When it was requested.
        public let requestedAt: Date
        /// The time from which the account can no longer be restored.
        public let purgeAfter: Date
        /// When the account was erased; `nil` before that.
        public let erasedAt: Date?
        /// The signed certificate of the erasure; `nil` before the account is erased.
        public let certificate: String?
    }

    /// Deletes the account and signs out; requires a recent sign-in.
    ///
    /// Until `purgeAfter` a sign-in is refused with `ACCOUNT_DELETED` and a `restoreToken` for `restoreAccount`.
    /// - Returns: The receipt with which `erasure(_:)` reads the progress.
    /// - Throws: `refused` with `TOKEN_TOO_OLD`, or another failure; the account and the session are then unchanged.
    @discardableResult
    public func deleteAccount() async throws(GatehouseError) -> Receipt? {
        let signIn = try await keeper.currentSignIn()
        let answer = try await answer(to: .delete("auth", "account"))
        await keeper.end(.accountDeleted, of: signIn)
        return answer.receipt
    }

    /// Restores a deleted account and signs in.
    /// - Parameters:
    ///   - token: The `restoreToken` of a refusal with `ACCOUNT_DELETED`.
    ///   - remember: As for `signIn`.
    /// - Returns: The new session.
    /// - Throws: `refused` with `INVALID_TOKEN` if the token is used or expired, or another failure.
    @discardableResult
    public func restoreAccount(_ token: Secret, remember: Bool = true) async throws(GatehouseError) -> SignedIn {
        let body: [String: JSON?] = ["restoreToken": .string(token.value), "remember": remember ? nil : false]
        let call = Call.post("auth", "account", "restore", body: body, access: .open)
        return try await opened(by: call, isRemembered: remember)
    }

    /// Reads the progress of a deletion; works without a session.
    /// - Parameter receipt: The receipt from `deleteAccount`, `unlink` or `unlinkCurrent`.
    /// - Returns: The progress.
    /// - Throws: `refused` with `NOT_FOUND`, or another failure.
    public func erasure(_ receipt: Receipt) async throws(GatehouseError) -> Erasure {
        try await value(of: .get("erasures", receipt.id, access: .open))
    }
}

extension Answer {
    /// The receipt, whose id is the last path segment of `Location`.
    var receipt: GatehouseClient.Receipt? {
        headers["location"].flatMap { URL(string: $0)?.lastPathComponent }.map { GatehouseClient.Receipt(id: $0) }
    }
}
