/// Where accounts are kept.
///
/// The same calls work alone, each a statement of its own, and inside a transaction.
package protocol AccountsStore: AccountStore, SessionStore, LinkingStore, PasswordStore, ProofStore, DeletionStore,
    IdentityStore, RedirectFlowStore, ChallengeStore, MessageOutbox,
    EventOutbox
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
