public import Foundation

extension GatehouseClient {
    /// The present session, which is read from the storage once; `nil` if no one is signed in.
    public var session: Session? {
        get async throws(GatehouseError) { try await keeper.session() }
    }

    /// The changes of the session; the first element is the current state.
    ///
    /// Each call returns a new stream. It ends when the last client that shares the session is released.
    public var changes: AsyncStream<Change> { keeper.changes() }

    /// Checks the stored session with the server and fetches the account; renews the access token if necessary.
    /// - Returns: The session; `nil` if no one is signed in, or if the server has ended the session. If another process
    ///   has signed in another person, that person's session as it is stored.
    /// - Throws: Any other failure; the session is then kept.
    @discardableResult
    public func resume() async throws(GatehouseError) -> Session? {
        guard try await keeper.session() != nil else { return nil }
        do {
            _ = try await user()
        } catch {
            switch error {
            // Another process may have stored the session of another person.
            case .signedOut: return try await keeper.session()
            case .refused(let refusal) where refusal.endsSession: return try await keeper.session()
            default: throw error
            }
        }
        return try await keeper.session()
    }

    /// An access token for the app's own server, renewed if necessary.
    /// - Parameter rejected: A token that the app's server refused; the method does not return it again.
    /// - Returns: A valid access token.
    /// - Throws: `signedOut`, or the error of the renewal.
    public func accessToken(insteadOf rejected: Secret? = nil) async throws(GatehouseError) -> Secret {
        let grant = try await keeper.grant()
        guard grant.token == rejected else { return grant.token }
        return try await keeper.grant(insteadOf: grant).token
    }

    // MARK: - Listing and ending

    /// A session of the account, on this device or another.
    public struct OpenSession: Sendable, Hashable, Codable, Identifiable {
        /// The session's id.
        public let id: String
        /// The device's name.
        public let device: String?
        /// The IP address from which it was opened.
        public let address: String?
        /// When it was opened.
        public let createdAt: Date
        /// When it was last used.
        public let lastSeenAt: Date?
        /// Whether it is the client's own session.
        public let current: Bool
    }

    /// Lists the account's live sessions on all devices.
    /// - Returns: The sessions; the client's own is `current`.
    /// - Throws: `signedOut`, or another failure.
    public func sessions() async throws(GatehouseError) -> [OpenSession] {
        struct List: Decodable { let sessions: [OpenSession] }
        return try await value(of: .get("auth", "sessions"), as: List.self).sessions
    }

    /// Ends another session of the account; to end the client's own, call `signOut`.
    /// - Parameter id: The session's id.
    /// - Throws: `refused` with `SESSION_NOT_FOUND`, or another failure.
    public func endSession(_ id: OpenSession.ID) async throws(GatehouseError) {
        try await answer(to: .delete("auth", "sessions", id))
    }
}
