public import Foundation

extension GatehouseClient {
    /// Who is signed in, read from the storage the first time; `nil` if nobody is.
    public var session: Session? {
        get async throws(GatehouseError) { try await keeper.session() }
    }

    /// What happens to the session from now on; the first element is the state of now.
    ///
    /// Each call returns a stream of its own. It ends with the client.
    public var changes: AsyncStream<Change> { keeper.changes() }

    /// Renews the stored session and reads the account.
    /// - Returns: Who is signed in; `nil` if nobody is, or if the server has ended the session.
    /// - Throws: Any other failure; the session is then kept.
    @discardableResult
    public func resume() async throws(GatehouseError) -> Session? {
        guard try await keeper.session() != nil else { return nil }
        do {
            _ = try await user()
        } catch {
            switch error {
            case .signedOut: return nil
            case .refused(let refusal) where refusal.endsSession: return try await keeper.session()
            default: throw error
            }
        }
        return try await keeper.session()
    }

    /// An access token for the app's own server, renewed if necessary.
    /// - Parameter rejected: The token that the app's server refused; another one is returned.
    /// - Returns: A token that is good now.
    /// - Throws: `signedOut`, or the failure of the renewal.
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
        /// The network address that opened it.
        public let address: String?
        /// When it was opened.
        public let createdAt: Date
        /// When it was last used.
        public let lastSeenAt: Date?
        /// Whether it is this one.
        public let current: Bool
    }

    /// Lists the account's live sessions on all devices.
    /// - Returns: The sessions; this one is `current`.
    /// - Throws: `signedOut`, or another failure.
    public func sessions() async throws(GatehouseError) -> [OpenSession] {
        struct List: Decodable { let sessions: [OpenSession] }
        return try await value(of: .get("auth", "sessions"), as: List.self).sessions
    }

    /// Ends one session; that of this client is ended with `signOut`.
    /// - Parameter id: The session's id.
    /// - Throws: `refused` with `SESSION_NOT_FOUND`, or another failure.
    public func endSession(_ id: OpenSession.ID) async throws(GatehouseError) {
        try await answer(to: .delete("auth", "sessions", id))
    }
}
