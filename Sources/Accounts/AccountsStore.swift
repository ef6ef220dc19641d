internal import ProviderKit

/// Where accounts are kept.
///
/// The same calls work alone, each a statement of its own, and inside a transaction.
package protocol AccountsStore: AccountStore, SessionStore, LinkingStore, PasswordStore, ProofStore, DeletionStore,
    IdentityStore, MergeStore, RedirectFlowStore, ChallengeStore, MessageOutbox, EventOutbox, ErasureStore,
    AuditTrail, PersonalDataStore
{}

/// A store that can do several things at once or not at all.
package protocol TransactionalStore: AccountsStore {
    /// Runs the body in one transaction, without network access inside.
    ///
    /// It is not repeated after a `StoreConflict`: whoever decided on rows that were read before must decide again.
    func transaction<Result: Sendable>(
        _ body: @Sendable (any AccountsStore) async throws -> Result
    ) async throws -> Result
}

extension TransactionalStore {
    /// The same for a body that reads all it decides on: it runs anew after a `StoreConflict`.
    func wholeDecision<Result: Sendable>(
        _ body: @Sendable (any AccountsStore) async throws -> Result
    ) async throws -> Result {
        try await decidingAgain { try await transaction(body) }
    }

    /// The same for a body whose refusals stand: what it used up before it refused stays used up.
    ///
    /// It writes nothing before a refusal that must not be kept.
    func standingDecision<Result: Sendable>(
        _ body: @Sendable (any AccountsStore) async throws -> Result
    ) async throws -> Result {
        let decided: Swift.Result<Result, AccountsError> = try await wholeDecision { store in
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

/// The rows are no longer what the caller decided on; nothing was written.
package struct StoreConflict: Error {
    package init() {}
}

/// How often a decision is made anew before the request is answered with `AccountsError.unavailable`.
private let mostDecisions = 8

/// Runs a decision on fresh rows until they hold still.
package func decidingAgain<Result>(_ decision: () async throws -> Result) async throws -> Result {
    for _ in 0..<mostDecisions {
        do {
            return try await decision()
        } catch is StoreConflict {
            continue
        }
    }
    throw AccountsError.unavailable
}
