extension SessionKeeper {
    /// The session as it is stored, which is newer if another process has renewed or changed it.
    /// - Returns: `nil` if the storage is empty or holds the session of another person, so that another process has
    ///   signed out or signed in that person; `held` itself if the storage cannot be compared.
    func newest(_ held: HeldSession) -> HeldSession? {
        guard held.isRemembered, storeAgainAt == nil else { return held }
        do {
            guard let data = try storage.load() else { return nil }
            let stored = try StoredSession(data)
            guard stored.session.uid == held.session.uid else { return nil }
            var newest = HeldSession(stored)
            newest.access = held.access
            return newest
        } catch {
            return held
        }
    }

    /// Whether the token is the session's, and not one that another process has replaced.
    func isNewest(_ refreshToken: GatehouseClient.Secret) -> Bool {
        guard case .signedIn(let held) = state else { return false }
        return newest(held)?.refreshToken == refreshToken
    }

    /// Whether another process has stored the session of another person in the shared storage.
    ///
    /// This process must not remove that session; its next call reads it.
    var storageHoldsAnotherPerson: Bool {
        guard case .signedIn(let held) = state, held.isRemembered, let data = try? storage.load(),
            let stored = try? StoredSession(data)
        else { return false }
        return stored.session.uid != held.session.uid
    }

    // Only `shared` uses it, under the lock of `live`; `weak let` requires a later version of Swift.
    private struct Weak: @unchecked Sendable { weak var keeper: SessionKeeper? }

    private static let live = Locked<[String: Weak]>([:])

    /// The one keeper of a place; two keepers would present the same refresh token at the same time.
    static func shared(at place: String?, orElse make: () -> SessionKeeper) -> SessionKeeper {
        guard let place else { return make() }
        return live.withLock { live in
            if let keeper = live[place]?.keeper { return keeper }
            live = live.filter { $0.value.keeper != nil }
            let keeper = make()
            live[place] = Weak(keeper: keeper)
            return keeper
        }
    }
}
