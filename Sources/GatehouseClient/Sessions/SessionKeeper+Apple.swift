/// What the device knows about people who signed in with Apple; tests replace it.
struct AppleAccounts: Sendable {
    /// Whether the person with Apple's id has revoked that the app may use their Apple Account.
    let isRevoked: @Sendable (_ user: String) async -> Bool
    /// An element each time somebody revokes it while the app runs.
    let revocations: @Sendable () -> AsyncStream<Void>
}

extension SessionKeeper {
    /// Signs out when the person revokes that the app may use the Apple Account by which the session was opened.
    ///
    /// With `checkingNow`, that is checked at once: it may have happened while the app did not run.
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

    /// Signs out if the session is of that person; `nil` is any person who signed in with Apple.
    private func signOut(appleUser user: String?) async {
        guard case .signedIn(let held) = state, let known = held.appleUser, user == nil || user == known else { return }
        // If the server is not told, its session expires.
        try? await GatehouseClient(server: server, keeper: self).signOut()
    }
}
