extension GatehouseClient {
    /// Which sessions a sign-out ends.
    public enum SignOutScope: String, Sendable {
        /// The client's own session.
        case local
        /// All other sessions of the account.
        case others
        /// All sessions of the account.
        case global
    }

    /// Ends sessions.
    ///
    /// With `local` and `global` the client removes its session at once, and then ends it on the server. If the server
    /// has already ended the client's own session, `local` succeeds, but `global` cannot end the others.
    /// - Parameter scope: Which sessions end.
    /// - Throws: The error of the call to the server, where the sessions then stay valid until they expire.
    public func signOut(_ scope: SignOutScope = .local) async throws(GatehouseError) {
        guard scope != .others else {
            try await answer(to: .post("auth", "logout", body: ["scope": "others"], access: .bearer))
            return
        }
        guard let former = try await keeper.forgetForSignOut() else { return }
        do {
            try await end(former, scope)
        } catch .refused(let refusal) where scope == .local && refusal.endsSession {
            // The server has already ended the session.
        }
    }

    /// Ends a session with its own tokens.
    ///
    /// For the session itself an expired access token suffices; `global` requires a valid one.
    private func end(_ former: HeldSession, _ scope: SignOutScope) async throws(GatehouseError) {
        var (bearer, refreshToken) = (former.access?.token, former.refreshToken)
        if bearer == nil || scope == .global {
            let renewed = try await server.renewed(with: refreshToken).get()
            (bearer, refreshToken) = (renewed.access.token, renewed.pair.refreshToken)
        }
        let body: [String: JSON?] = [
            "refreshToken": scope == .local ? .string(refreshToken.value) : nil, "scope": .string(scope.rawValue),
        ]
        let call = Call.post("auth", "logout", body: body, access: .bearer).changed { $0.repetition = .unlessLate }
        do {
            _ = try await server.answer(to: call, bearer: bearer)
        } catch .refused(let refusal) where scope == .global && refusal.endsSession {
            // The token is new, so the first attempt has ended the sessions, and its answer was lost.
        }
    }
}
