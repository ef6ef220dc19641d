package import Foundation
package import ProviderKit

/// What evidence would lead to, and why; nothing is changed.
package struct Explanation: Sendable {
    package let verdict: LinkingVerdict
    package let state: LinkingState
    package let policy: LinkingPolicy
}

/// Replays the linking decision for an admin.
package struct Explaining: Sendable {
    private let store: any LinkingFacts.Store

    package init(store: any LinkingFacts.Store) {
        self.store = store
    }

    /// `asking` is the account that would ask for a link; without it, it is a sign-in.
    package func explain(
        _ evidence: VerifiedIdentity, of provider: ConfiguredProvider, requestedBy uid: UUID? = nil,
        onConflict: ConflictChoice = .keep, in application: Application
    ) async throws -> Explanation {
        var requester: RequestingAccount?
        if let uid {
            let identities = try await store.identities(of: uid, application: application.id)
            guard !identities.isEmpty else { throw AccountsError.accountNotFound(uid) }
            requester = RequestingAccount(uid: uid, isGuest: identities.allSatisfy(\.isGuest))
        }
        let state = try await LinkingFacts(store: store, application: application)
            .state(for: try evidence.checked(), of: provider, requester: requester)
        let policy = LinkingPolicy(provider, in: application, onConflict: onConflict)
        return Explanation(verdict: decide(evidence, state: state, policy: policy), state: state, policy: policy)
    }
}
