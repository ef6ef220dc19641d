/// The state of Apple accounts on the device; tests replace it.
struct AppleAccounts: Sendable {
    /// Whether the person with this Apple id has revoked the app's use of their Apple Account.
    let isRevoked: @Sendable (_ user: String) async -> Bool
    /// Yields an element for each revocation while the app runs.
    let revocations: @Sendable () -> AsyncStream<Void>
}

extension SessionKeeper {
    /// Signs out when the person revokes the app's use of the Apple Account that opened the session.
    ///
    /// `checkingNow` also checks at once, because the revocation may have happened while the app did not run.
    func watchAppleAccount(checkingNow: Bool) {
        guard appleWatch == nil, let accounts = server.options.appleAccounts, case .signedIn(let held) = state,
            let user = held.appleUser
        else { return }
        let revocations = accounts.revocations()
        // Uses an unstructured task, because it watches for as long as the keeper exists, not only during this call.
        appleWatch = Task { [weak self] in
            if checkingNow, await accounts.isRevoked(user) { await self?.signOut(appleUser: user) }
            for await _ in revocations { await self?.signOut(appleUser: nil) }
        }
    }

    /// Signs out if the session belongs to that person; `nil` is any person who signed in with Apple.
    private func signOut(appleUser user: String?) async {
        guard case .signedIn(let held) = state, let known = held.appleUser, user == nil || user == known else { return }
        // If the server cannot be reached, the session expires there.
        try? await GatehouseClient(server: server, keeper: self).signOut()
    }
}
