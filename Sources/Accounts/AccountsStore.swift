internal import ProviderKit

/// Where accounts are kept.
///
/// The same calls work alone, each a statement of its own, and inside a transaction.
package protocol AccountsStore: AccountStore, SessionStore, LinkingStore, PasswordStore, ProofStore, DeletionStore,
    IdentityStore, QuarantineStore, MergeStore, RedirectFlowStore, ChallengeStore, MessageOutbox, EventOutbox,
    ErasureStore,
    AuditTrail, PersonalDataStore
{}

/// A store that can do several things at once or not at all.
///
/// Locks are taken in one order, so that transactions never wait for each other in a circle:
///
/// 1. the one-time secret that the call presents (`proofs`, `redirect_flows`, then `registrations`, `code_guesses`);
/// 2. accounts, in the order of their uids;
/// 3. everything that belongs to a locked account: sessions, identities, addresses, passwords, tokens;
/// 4. deliveries and revocations of an erasure, then the erasure.
///
/// A statement that needs a row of an earlier step, as one that ends other people's codes or claims on an address,
/// never waits for it (`NOWAIT`). It fails with a transient `StoreConflict`, and the whole transaction runs again.
/// A statement on its own that locks several rows of an account locks the account first; one that locks a single row
/// needs no order.
package protocol TransactionalStore: AccountsStore {
    /// Runs the body in one transaction, without network access inside.
    ///
    /// It runs again after a transient `StoreConflict`, as if the transaction had begun a moment later; after any other
    /// one the caller must read again what it decided on.
    func transaction<Result: Sendable>(
        _ body: @Sendable (any AccountsStore) async throws -> Result
    ) async throws -> Result
}

extension TransactionalStore {
    /// The same for a body that reads all it decides on: it runs again after any `StoreConflict`.
    func retryingTransaction<Result: Sendable>(
        _ body: @Sendable (any AccountsStore) async throws -> Result
    ) async throws -> Result {
        try await retryingOnConflict { try await transaction(body) }
    }

    /// The same for a body whose refusals stand: what it used up before it refused stays used up.
    ///
    /// It writes nothing before a refusal that must not be kept.
    func retryingTransactionKeepingRefusals<Result: Sendable>(
        _ body: @Sendable (any AccountsStore) async throws -> Result
    ) async throws -> Result {
        let decided: Swift.Result<Result, AccountsError> = try await retryingTransaction { store in
            do {
                return .success(try await body(store))
            } catch let error as AccountsError where error.isRefusal {
                return .failure(error)
            } catch ProviderError.refused {
                // A proof that had been used up before anything was written.
                return .failure(.invalidToken)
            }
        }
        return try decided.get()
    }
}

/// The rows are no longer what the caller decided on, or another transaction holds them; nothing was written.
package struct StoreConflict: Error {
    /// Another transaction held the rows: the same call may succeed a moment later.
    package let isTransient: Bool

    package init(isTransient: Bool = false) {
        self.isTransient = isTransient
    }
}

/// How long a call is repeated while other transactions hold its rows.
private let longestContention: Duration = .seconds(5)

/// Repeats a call, after short random pauses, while other transactions hold the rows that it needs.
///
/// - Throws: `AccountsError.unavailable` when that lasts for seconds.
package func retryingUnderContention<Result>(_ call: () async throws -> Result) async throws -> Result {
    let deadline = ContinuousClock.now + longestContention
    var longestPause = 2.0
    while true {
        do {
            return try await call()
        } catch let conflict as StoreConflict where conflict.isTransient {
            guard ContinuousClock.now < deadline else { throw AccountsError.unavailable }
            try await Task.sleep(for: .milliseconds(Double.random(in: 0...longestPause)))
            longestPause = min(longestPause * 2, 64)
        }
    }
}

/// How often a decision is made anew before the request is answered with `AccountsError.unavailable`.
private let mostDecisions = 8

/// Runs a decision on fresh rows until they hold still.
package func retryingOnConflict<Result>(_ decision: () async throws -> Result) async throws -> Result {
    for _ in 0..<mostDecisions {
        do {
            return try await decision()
        } catch is StoreConflict {
            continue
        }
    }
    throw AccountsError.unavailable
}
