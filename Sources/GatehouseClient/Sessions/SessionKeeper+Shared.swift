extension SessionKeeper {
    /// Whether another process that shares the storage has signed another person in there.
    ///
    /// This process must not remove that session; the next call reads it.
    var storageHoldsAnotherPerson: Bool {
        guard case .signedIn(let held) = state, held.isRemembered, let data = try? storage.load(),
            let stored = try? StoredSession(data)
        else { return false }
        return stored.session.uid != held.session.uid
    }

    private final class Weak: Sendable {
        // `weak let` needs a later language version on Apple's platforms; the lock guards the variable.
        private struct Box: @unchecked Sendable { weak var keeper: SessionKeeper? }
        private let box: Locked<Box>

        init(_ keeper: SessionKeeper) { box = Locked(Box(keeper: keeper)) }

        var keeper: SessionKeeper? { box.withLock { $0.keeper } }
    }

    private static let live = Locked<[String: Weak]>([:])

    /// The keeper of a place: two of them would present the same refresh token at the same time.
    static func shared(at place: String?, orElse make: () -> SessionKeeper) -> SessionKeeper {
        guard let place else { return make() }
        return live.withLock { live in
            if let keeper = live[place]?.keeper { return keeper }
            live = live.filter { $0.value.keeper != nil }
            let keeper = make()
            live[place] = Weak(keeper)
            return keeper
        }
    }
}
