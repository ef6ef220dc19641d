public import Foundation

extension GatehouseClient {
    /// Reads the account; a difference from the session is reported in `changes`.
    /// - Returns: The account.
    /// - Throws: `signedOut`, or another failure.
    @discardableResult
    public func user() async throws(GatehouseError) -> User {
        try await updated(by: .get("auth", "me"))
    }

    /// Changes the account, but not what is `nil`.
    /// - Parameters:
    ///   - displayName: The name to show.
    ///   - metadata: What the app stores with the account; it replaces all of it.
    /// - Returns: The changed account.
    /// - Throws: `refused` with `INVALID_PARAMETER`, for example for too large metadata, or another failure.
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

    /// What the progress of a deletion is read with.
    public struct Receipt: Sendable, Hashable, Codable {
        /// The id.
        public let id: String

        /// Creates a receipt from an id that the app has stored.
        public init(id: String) { self.id = id }
    }

    /// The progress of a deletion.
    public struct Erasure: Sendable, Hashable, Codable {
        /// How far it is: `scheduled`, `restored` or `erased`.
        public let status: String
        /// When it was requested.
        public let requestedAt: Date
        /// From when on the account is erased.
        public let purgeAfter: Date
        /// When the account was erased.
        public let erasedAt: Date?
        /// The signed certificate.
        public let certificate: String?
    }

    /// Deletes the account and signs out; it needs a recent sign-in.
    ///
    /// Until `purgeAfter` a sign-in is refused with `ACCOUNT_DELETED` and a `restoreToken`.
    /// - Returns: What `erasure` reads the progress with.
    /// - Throws: `refused` with `TOKEN_TOO_OLD`, or another failure; the account and the session then stay.
    @discardableResult
    public func deleteAccount() async throws(GatehouseError) -> Receipt? {
        let signIn = try await keeper.currentSignIn()
        let answer = try await answer(to: .delete("auth", "account"))
        await keeper.end(.accountDeleted, of: signIn)
        return answer.receipt
    }

    /// Brings a deleted account back and signs in.
    /// - Parameters:
    ///   - token: The `restoreToken` of a refusal with `ACCOUNT_DELETED`.
    ///   - remember: As for `signIn`.
    /// - Returns: Who is signed in now.
    /// - Throws: `refused` with `INVALID_TOKEN` if the ticket is used or expired, or another failure.
    @discardableResult
    public func restoreAccount(_ token: Secret, remember: Bool = true) async throws(GatehouseError) -> SignedIn {
        let body: [String: JSON?] = ["restoreToken": .string(token.value), "remember": remember ? nil : false]
        let call = Call.post("auth", "account", "restore", body: body, access: .open)
        return try await opened(by: call, isRemembered: remember)
    }

    /// Reads the progress of a deletion, for which nobody has to be signed in.
    /// - Parameter receipt: What `deleteAccount` or `unlink` returned.
    /// - Returns: The progress.
    /// - Throws: `refused` with `NOT_FOUND`, or another failure.
    public func erasure(_ receipt: Receipt) async throws(GatehouseError) -> Erasure {
        try await value(of: .get("erasures", receipt.id, access: .open))
    }
}

extension Answer {
    /// The receipt at the end of `Location`.
    var receipt: GatehouseClient.Receipt? {
        headers["location"].flatMap { URL(string: $0)?.lastPathComponent }.map { GatehouseClient.Receipt(id: $0) }
    }
}
