package import Foundation
package import ProviderKit

/// The verdict that evidence would get, and the facts behind it.
package struct Explanation: Sendable {
    package let verdict: LinkingVerdict
    package let state: LinkingState
    package let policy: LinkingPolicy
}

/// Runs the linking rules for an admin without changing anything.
package struct LinkingExplainer: Sendable {
    private let store: any LinkingFacts.Store

    package init(store: any LinkingFacts.Store) { self.store = store }

    /// `uid` is the account that would request the link; `nil` explains a sign-in.
    package func explain(
        _ evidence: VerifiedIdentity, of provider: ConfiguredProvider, requestedBy uid: UUID? = nil,
        onConflict: ConflictChoice = .keep, in application: Application
    ) async throws -> Explanation {
        var requester: RequestingAccount?
        if let uid {
            let identities = try await store.identities(of: uid, application: application.id)
            guard !identities.isEmpty else { throw AccountsError.accountNotFound(uid) }
            let count = identities.count { !$0.isGuest }
            requester = RequestingAccount(
                uid: uid, isGuest: count == 0, isFull: count >= application.policy.maximumIdentities)
        }
        var state = try await LinkingFacts(store: store, application: application)
            .read(try evidence.checked(), of: provider).state
        state.requester = requester
        var policy = LinkingPolicy.signIn(provider, in: application)
        policy.onConflict = onConflict
        return Explanation(verdict: decide(evidence, state: state, policy: policy), state: state, policy: policy)
    }
}
