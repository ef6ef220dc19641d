/// Everything that the use cases need from a database, as the composition of their ports.
///
/// A use case requires only its own ports and names them in `Store`. Each call works inside and outside a transaction.
package typealias AccountsStore = TransactionalStore & AccountLocks & ProfileStore & OwnerContactStore & AliasStore
    & RefreshStore & SessionStore & SessionBearerStore & SessionEndStore & SessionOpeningStore & GuestSuccessorStore
    & GuestUpgradeStore & LinkingStateStore & LinkingStore & IdentityStore & IdentityRemovalStore & RoleIdentityStore
    & AddressChangeStore & AddressClaimStore & MailForwardingStore & ProviderTokenStore & SingleUseStore & ProofStore
    & ChallengeStore & RedirectFlowStore & FlowCodeStore & PasswordAttemptStore & RegistrationStore & PasswordStore
    & PasswordRehashStore & PasswordResetStore & PinStore & ElevationStore & QuarantineStore & MergeStore
    & MergeTicketStore & MergeUndoStore & DeletionStore & ErasureStatusStore & ErasureQueue & ErasureStore
    & RevocationRetryStore & IdleGuestStore & PersonalDataStore & MessageOutbox & EventOutbox & EventDeliveryStore
    & AuditTrail & AccountDetailStore & InvitationStore & RecoveryStore & TrialStore

/// A store that runs several calls in one transaction.
///
/// All transactions take locks in the same order, so that they never deadlock:
///
/// 1. the one-time secret that the call presents (`proofs`, `redirect_flows`, `authorization_codes`,
///    `authorization_requests`, `handoffs`, then `registrations`, `code_guesses`);
/// 2. accounts, ordered by uid;
/// 3. everything that belongs to a locked account: sessions, identities, addresses, passwords, tokens;
/// 4. the deliveries and revocations of an erasure, then the erasure itself.
///
/// A statement that needs a row of an earlier step, such as one that ends other people's codes or claims on an address,
/// does not wait for it (`NOWAIT`). It fails with a transient `StoreConflict`, and the whole transaction runs again.
/// A single statement that locks several rows of an account locks the account first.
package protocol TransactionalStore: Sendable {
    /// Runs the body in one transaction, on a store with the same ports.
    ///
    /// The body must not use the network. It runs again after a transient `StoreConflict`. After any other conflict the
    /// use case must first repeat the reads that its decision depends on. If a transaction is already open, the body
    /// becomes part of that transaction.
    ///
    /// In a transaction, a write that returns nothing from the database is kept and sent with the next statement whose
    /// answer is awaited. If it fails, that call or the commit throws its `StoreConflict`, and nothing is committed.
    func transaction<Output: Sendable>(_ body: @Sendable (Self) async throws -> Output) async throws -> Output
}

extension TransactionalStore {
    /// Runs a body in a transaction, and repeats it, with all reads that it depends on, after any `StoreConflict`.
    package func retryingTransaction<Output: Sendable>(_ body: @Sendable (Self) async throws -> Output) async throws
        -> Output
    {
        try await retryingOnConflict { try await transaction(body) }
    }

    /// Works as `retryingTransaction`, but also commits if the body refuses, so that a refused proof remains consumed.
    ///
    /// A body that refuses must not have written anything but the consumed proof. An error that a write reports later
    /// undoes everything.
    func retryingTransactionKeepingRefusals<Output: Sendable>(
        _ body: @Sendable (Self) async throws -> Output
    ) async throws -> Output {
        let decided: Result<Output, AccountsError> = try await retryingTransaction { store in
            do {
                return .success(try await body(store))
            } catch let error as AccountsError where error.isRefusal {
                return .failure(error)
            }
        }
        return try decided.get()
    }
}

/// The rows have changed since the decision was made, or another transaction holds their locks; nothing was written.
package struct StoreConflict: Error {
    /// Another transaction held the row locks, so the same call may succeed a moment later.
    package let isTransient: Bool

    package init(isTransient: Bool = false) { self.isTransient = isTransient }
}

/// Repeats a call, after short random pauses, while other transactions hold the locks on its rows.
/// - Throws: `AccountsError.unavailable` after `limit`, but only after the third conflict.
package func retryingUnderContention<Output>(
    for limit: Duration = .seconds(5), _ call: () async throws -> Output
) async throws -> Output {
    let deadline = ContinuousClock.now + limit
    var longestPause = 2.0
    var conflicts = 0
    while true {
        do {
            return try await call()
        } catch let conflict as StoreConflict where conflict.isTransient {
            conflicts += 1
            // A pause of the whole process may use up the time before the first repetition.
            guard conflicts < 3 || ContinuousClock.now < deadline else {
                throw AccountsError.unavailable(reason: "rows stayed locked")
            }
            try await Task.sleep(for: .milliseconds(Double.random(in: 0...longestPause)))
            longestPause = min(longestPause * 2, 64)
        }
    }
}

/// Runs a decision, and repeats it after each `StoreConflict`, from the second one on after a random pause.
///
/// The decision reads its rows again each time. Without the pauses, the same callers would conflict each time. Their
/// bounds double, because where statements are slow, as on Citus, short ones would not separate the callers.
/// - Throws: `AccountsError.unavailable` after eight conflicts.
package func retryingOnConflict<Output>(_ decision: () async throws -> Output) async throws -> Output {
    for attempt in 0..<8 {
        if attempt > 1 { try await Task.sleep(for: .milliseconds(Double.random(in: 1...Double(2 << attempt)))) }
        do { return try await decision() } catch is StoreConflict { continue }
    }
    throw AccountsError.unavailable(reason: "rows changed repeatedly")
}
