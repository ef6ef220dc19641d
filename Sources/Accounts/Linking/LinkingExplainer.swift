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

    /// Explains a link that the account `uid` would request, or a sign-in if `uid` is `nil`.
    ///
    /// `mode` and `automatic` replace the settings of the application.
    package func explain(
        _ evidence: VerifiedIdentity, of provider: ConfiguredProvider, requestedBy uid: UUID? = nil,
        onConflict: ConflictChoice = .keep, mode: ProviderMode? = nil,
        automatic: ApplicationPolicy.AutomaticLinking? = nil, in application: Application
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
        if let mode { policy.mode = mode }
        if let automatic { policy.automatic = automatic }
        return Explanation(verdict: decide(evidence, state: state, policy: policy), state: state, policy: policy)
    }

    /// Explains what a sign-in with the evidence would lead to today if the account `uid`, which it has created, did
    /// not exist.
    package func explain(
        _ evidence: VerifiedIdentity, of provider: ConfiguredProvider, withoutAccount uid: UUID,
        in application: Application
    ) async throws -> Explanation {
        let state = try await LinkingFacts(store: store, application: application)
            .readOwners(ofAddressesIn: evidence, except: uid)
        let policy = LinkingPolicy.signIn(provider, in: application)
        return Explanation(verdict: decide(evidence, state: state, policy: policy), state: state, policy: policy)
    }
}
