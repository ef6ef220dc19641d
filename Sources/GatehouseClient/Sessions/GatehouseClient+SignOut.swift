extension GatehouseClient {
    /// Which sessions a sign-out ends.
    public enum SignOutScope: String, Sendable {
        /// This one.
        case local
        /// All others; this one stays.
        case others
        /// All of the account.
        case global
    }

    /// Ends sessions.
    ///
    /// Unless only the others end, the session is forgotten here at once, and then at the server.
    /// - Parameter scope: Which sessions end.
    /// - Throws: The failure to tell the server, where the session then lives on until it expires.
    public func signOut(_ scope: SignOutScope = .local) async throws(GatehouseError) {
        guard scope != .others else {
            try await answer(to: .post("auth", "logout", body: ["scope": "others"], access: .bearer))
            return
        }
        guard let former = try await keeper.forgetForSignOut() else { return }
        do {
            try await end(former, scope)
        } catch .refused(let refusal) where refusal.endsSession {
            // The server had ended it before.
        }
    }

    /// Ends a session with its own tokens.
    ///
    /// An access token that has expired is enough for the session itself, while `global` needs a good one.
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
        _ = try await server.answer(to: call, bearer: bearer)
    }
}
