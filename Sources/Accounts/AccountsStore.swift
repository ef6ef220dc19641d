internal import ProviderKit

/// Everything that the use cases need of a database, as the composition of their ports.
///
/// A use case asks for its own ports only and names them in `Store`. Each call works alone, as a statement of its own,
/// and inside a transaction.
package typealias AccountsStore = AccountAccessPorts & CredentialPorts & LifecyclePorts & DeliveryPorts

package typealias AccountAccessPorts = TransactionalStore & AccountLocks & ProfileStore & OwnerContactStore
    & AdministrationStore & AliasStore & RefreshStore & SessionStore & SessionEndStore & SessionOpeningStore
    & GuestSuccessorStore & GuestUpgradeStore & LinkingStateStore & LinkingStore
package typealias CredentialPorts = IdentityStore & IdentityRemovalStore & AddressChangeStore & AddressClaimStore
    & MailForwardingStore & ProviderTokenStore & SingleUseStore & ProofStore & ChallengeStore & RedirectFlowStore
    & FlowCodeStore & PasswordAttemptStore & RegistrationStore & PasswordStore & PasswordRehashStore
    & PasswordResetStore & QuarantineStore
package typealias LifecyclePorts = MergeStore & MergeTicketStore & MergeUndoStore & DeletionStore & ErasureStatusStore
    & ErasureQueue & ErasureStore & RevocationRetryStore & IdleGuestStore & PersonalDataStore
package typealias DeliveryPorts = MessageOutbox & EventOutbox & EventDeliveryStore & AuditTrail

/// A store that runs several calls in one transaction.
///
/// All transactions take locks in the same order, so that they never deadlock:
///
/// 1. the one-time secret that the call presents (`proofs`, `redirect_flows`, then `registrations`, `code_guesses`);
/// 2. accounts, in the order of their uids;
/// 3. everything that belongs to a locked account: sessions, identities, addresses, passwords, tokens;
/// 4. deliveries and revocations of an erasure, then the erasure.
///
/// A statement that needs a row of an earlier step, such as one that ends other people's codes or claims on an address,
/// does not wait for it (`NOWAIT`). It fails with a transient `StoreConflict`, and the whole transaction runs again.
/// A single statement that locks several rows of an account locks the account first; one that locks a single row needs
/// no order.
package protocol TransactionalStore: Sendable {
    /// Runs the body in one transaction, on a store with the same ports. The body must not use the network.
    ///
    /// The body runs again after a transient `StoreConflict`. After any other conflict the use case must read again
    /// what its decision depends on. Inside a transaction the body becomes a part of it.
    func transaction<Result: Sendable>(_ body: @Sendable (Self) async throws -> Result) async throws -> Result
}

extension TransactionalStore {
    /// Runs a body that reads everything its decision depends on, again after any `StoreConflict`.
    func retryingTransaction<Result: Sendable>(_ body: @Sendable (Self) async throws -> Result) async throws -> Result {
        try await retryingOnConflict { try await transaction(body) }
    }

    /// Does the same, and commits what the body wrote before it refused: a refused proof stays used up.
    ///
    /// Before it refuses, the body must write nothing else.
    func retryingTransactionKeepingRefusals<Result: Sendable>(
        _ body: @Sendable (Self) async throws -> Result
    ) async throws -> Result {
        let decided: Swift.Result<Result, AccountsError> = try await retryingTransaction { store in
            do {
                return .success(try await body(store))
            } catch let error as AccountsError where error.isRefusal {
                return .failure(error)
            } catch ProviderError.refused {
                // The evidence had been used before, and nothing was written.
                return .failure(.invalidToken)
            }
        }
        return try decided.get()
    }
}

/// The rows no longer match what the decision was based on, or another transaction holds them.
///
/// Nothing was written.
package struct StoreConflict: Error {
    /// Another transaction held the rows, so that the same call may succeed a moment later.
    package let isTransient: Bool

    package init(isTransient: Bool = false) {
        self.isTransient = isTransient
    }
}

/// How long a call is repeated while other transactions hold its rows.
private let longestContention: Duration = .seconds(5)

/// Repeats a call, after short random pauses, while other transactions hold the rows that it needs.
///
/// - Throws: `AccountsError.unavailable` after several seconds.
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

/// How often a decision is repeated before the request fails with `AccountsError.unavailable`.
private let mostDecisions = 8

/// Repeats a decision on fresh rows until no `StoreConflict` interrupts it.
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
