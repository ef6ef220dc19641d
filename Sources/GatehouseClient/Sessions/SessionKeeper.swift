internal import Foundation

/// Owns the session: renews its access token with one refresh at a time, stores it, and reports its changes.
actor SessionKeeper {
    let server: Server
    let storage: any GatehouseClient.Storage
    private let renewsByItself: Bool
    let listeners = Listeners()
    /// The current access token, for code that cannot wait.
    let current = Locked<GatehouseClient.Secret?>(nil)

    private(set) var state = KeptState.unread
    /// Counts the sign-ins of different people, so that a call of one person is never repeated for another.
    private var signIn = 0
    private var refreshes = 0
    private var refreshing: Refresh?
    private var timer: Task<Void, Never>?
    private var retry = RefreshRetry()
    /// Whether a failure to read the storage was reported; it is reported again after a success.
    private var isUnreadable = false
    /// When storing is tried again; `nil` if the storage holds the session.
    var storeAgainAt: ContinuousClock.Instant?
    /// The refresh tokens that could not be saved since the last success, and the token of the previous person.
    var unsaved: Set<GatehouseClient.Secret> = []
    /// Signs out when Apple reports a revocation; see `watchAppleAccount`.
    var appleWatch: Task<Void, Never>?

    init(server: Server, storage: any GatehouseClient.Storage, renewsByItself: Bool) {
        self.server = server
        self.storage = storage
        self.renewsByItself = renewsByItself
    }

    deinit {
        timer?.cancel()
        appleWatch?.cancel()
    }

    // MARK: - Reading

    /// The session, which is read from the storage once.
    func session() throws(GatehouseError) -> GatehouseClient.Session? {
        try load()
        if case .signedIn(let held) = state { return held.session }
        return nil
    }

    /// The number of the sign-in; it differs after a sign-out or the sign-in of another person.
    func currentSignIn() throws(GatehouseError) -> Int {
        guard try session() != nil else { throw .signedOut }
        return signIn
    }

    private func load() throws(GatehouseError) {
        guard case .unread = state else { return storeAgain() }
        let data: Data?
        do {
            data = try storage.load()
            isUnreadable = false
        } catch {
            let error = GatehouseError.storage(.init(.load, error))
            if !isUnreadable { listeners.report(.storageFailed(error)) }
            isUnreadable = true
            throw error
        }
        guard let data else {
            state = .signedOut
            return
        }
        do {
            let stored = try StoredSession(data)
            state = .signedIn(HeldSession(stored))
            listeners.report(.signedIn(stored.session))
            scheduleRenewal(after: .zero)
            watchAppleAccount(checkingNow: true)
        } catch {
            // The stored session is damaged or from another version; the next sign-in replaces it.
            state = .signedOut
            listeners.report(.storageFailed(.storage(.init(operation: .load, reason: "unreadable"))))
        }
    }

    // MARK: - Access tokens

    /// Returns a valid access token, renewed if necessary.
    /// - Parameter rejected: The token that the server refused for the same sign-in.
    /// - Returns: The token and its sign-in.
    /// - Throws: `signedOut`, also if another person has signed in, or the error of the renewal. Until the
    ///   `Retry-After` of a failed renewal is over, its error is thrown again without a request.
    func grant(insteadOf rejected: Grant? = nil) async throws(GatehouseError) -> Grant {
        try load()
        guard case .signedIn(let held) = state, rejected.map({ $0.signIn == signIn }) ?? true else {
            throw .signedOut
        }
        let now = ContinuousClock.now
        if let access = held.access, access.token != rejected?.token, now < access.end {
            if now >= access.renewAt, retry.admitsRenewalInAdvance(at: now), refresh(held) == nil { throw .signedOut }
            return Grant(token: access.token, signIn: signIn)
        }
        if let block = retry.block(at: now) { throw block }
        guard let refresh = refresh(held) else { throw .signedOut }
        return try await refresh.value.get()
    }

    /// The refresh that is under way, or a new one; `nil` if another process has replaced the session.
    ///
    /// `failures` is the number of older tokens of the session with which a refresh has just failed.
    private func refresh(_ held: HeldSession, after failures: Int = 0) -> Task<Result<Grant, GatehouseError>, Never>? {
        if let refreshing { return refreshing.task }
        guard let held = followed(held) else { return nil }
        refreshes += 1
        let (number, presented, signIn) = (refreshes, held.refreshToken, signIn)
        let task = Task { () -> Result<Grant, GatehouseError> in
            let outcome = await server.renewed(with: presented) { await isNewest(presented) }
            return await finish(outcome, number: number, presented: presented, signIn: signIn, failures: failures)
        }
        refreshing = Refresh(number: number, task: task)
        return task
    }

    /// Takes over from the storage what another process has done with the session.
    /// - Returns: The session as it is stored; `nil` if another process has signed out or signed in another person, so
    ///   that the session has ended here.
    private func followed(_ held: HeldSession) -> HeldSession? {
        guard let newest = newest(held) else {
            forget(.elsewhere)
            // Reads the other person's session, if there is one; a failure is reported.
            try? load()
            return nil
        }
        state = .signedIn(newest)
        if newest.session != held.session {
            listeners.report(.updated(newest.session))
            watchAppleAccount(checkingNow: false)
        }
        return newest
    }

    private func finish(
        _ outcome: Result<AccessResponse, GatehouseError>, number: Int, presented: GatehouseClient.Secret, signIn: Int,
        failures: Int
    ) async -> Result<Grant, GatehouseError> {
        let isLatest = refreshing?.number == number
        if isLatest { refreshing = nil }
        guard case .signedIn(let held) = state, self.signIn == signIn else { return .failure(.signedOut) }
        guard isLatest else {
            // Another sign-in of the same person came first.
            return held.access.map { .success(Grant(token: $0.token, signIn: signIn)) } ?? .failure(.signedOut)
        }
        switch outcome {
        case .success(let answer):
            guard var held = followed(held) else { return .failure(.signedOut) }
            retry = RefreshRetry()
            // Another process may have stored a newer token meanwhile.
            if held.refreshToken == presented { held.refreshToken = answer.pair.refreshToken }
            held.access = answer.access
            hold(held)
            return .success(Grant(token: answer.access.token, signIn: signIn))
        case .failure(let error):
            // Another process may have renewed the session, or the person may have signed out and in again there.
            guard let newest = followed(held) else { return .failure(.signedOut) }
            if failures < 3, newest.refreshToken != presented {
                return await refresh(newest, after: failures + 1)?.value ?? .failure(.signedOut)
            }
            if case .refused(let refusal) = error, refusal.endsSession {
                forget(.ended(refusal))
                return .failure(error)
            }
            let pause = retry.fail(with: error, at: .now)
            listeners.report(.refreshFailed(error))
            scheduleRenewal(after: pause)
            return .failure(error)
        }
    }

    // MARK: - Changing

    /// Replaces the present session with the session of a sign-in.
    ///
    /// `former` is the sign-in that the session continues. `appleUser` is Apple's id of the person, if an Apple Account
    /// opened the session.
    /// - Throws: `signedOut` if another sign-in has replaced `former`.
    func adopt(
        _ answer: SessionResponse, access: AccessToken, isRemembered: Bool?, continuing former: Int? = nil,
        appleUser: String? = nil
    ) throws(GatehouseError) {
        var known: HeldSession?
        if case .signedIn(let held) = state { known = held }
        if let former, former != signIn || known == nil { throw .signedOut }
        // A stored session that was never read may be another person's.
        if case .unread = state, let data = try? storage.load(), let stored = try? StoredSession(data) {
            unsaved.insert(stored.refreshToken)
        }
        let session = GatehouseClient.Session(user: answer.user, auth: answer.auth)
        let isSamePerson = known?.session.uid == session.uid
        if !isSamePerson {
            signIn += 1
            if let known { unsaved.insert(known.refreshToken) }
        }
        refreshing = nil
        retry = RefreshRetry()
        hold(
            HeldSession(
                session: session, refreshToken: answer.refreshToken, access: access,
                isRemembered: isRemembered ?? (former == nil || known?.isRemembered ?? true),
                appleUser: appleUser ?? known?.appleUser(of: session)))
        listeners.report(isSamePerson && former != nil ? .updated(session) : .signedIn(session))
        watchAppleAccount(checkingNow: false)
    }

    /// Updates the account of the session with the one from the server.
    func update(_ user: GatehouseClient.User, of signIn: Int) {
        guard self.signIn == signIn, case .signedIn(let held) = state, held.session.uid == user.id,
            held.session.user != user, var held = followed(held)
        else { return }
        held.session.user = user
        hold(held)
        listeners.report(.updated(held.session))
    }

    /// Signs out on this device.
    func end(_ reason: GatehouseClient.SignOutReason, of signIn: Int? = nil) {
        guard signIn == nil || signIn == self.signIn, case .signedIn = state else { return }
        forget(reason)
    }

    /// Signs out on this device, and returns the session to end at the server.
    func forgetForSignOut() throws(GatehouseError) -> HeldSession? {
        try load()
        guard case .signedIn(let held) = state else { return nil }
        let former = newest(held) ?? held
        forget(.signedOut)
        return former
    }

    private func hold(_ held: HeldSession) {
        state = .signedIn(held)
        current.withLock { $0 = held.access?.token }
        store()
        if let access = held.access { scheduleRenewal(after: ContinuousClock.now.duration(to: access.renewAt)) }
    }

    private func forget(_ reason: GatehouseClient.SignOutReason) {
        let isForeign = storageHoldsAnotherPerson
        state = isForeign ? .unread : .signedOut
        signIn += 1
        refreshing = nil
        retry = RefreshRetry()
        timer?.cancel()
        current.withLock { $0 = nil }
        if !isForeign { store() }
        listeners.report(.signedOut(reason))
    }

    // MARK: - Renewing by itself

    private func scheduleRenewal(after pause: Duration) {
        guard renewsByItself else { return }
        timer?.cancel()
        timer = Task { [weak self] in
            do { try await Task.sleep(for: pause, clock: .continuous) } catch { return }
            await self?.renew()
        }
    }

    private func renew() async {
        guard case .signedIn(let held) = state, retry.block(at: .now) == nil else { return }
        _ = await refresh(held)?.value
    }
}
