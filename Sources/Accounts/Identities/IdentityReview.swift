package import Foundation
internal import ProviderKit

/// Lets an owner keep or remove recently linked identities, from a link in the mail about a password reset.
package struct IdentityReview: Sendable {
    typealias Store = AccountLocks & ProofStore & IdentityStore & QuarantineStore & IdentityUnlinking.Store
        & RoleIdentityStore

    let store: any TransactionalStore & Store
    let opaque: any OpaqueTokens

    /// Returns the identities except guests and the one whose password was reset, without consuming the token.
    /// - Throws: `AccountsError.invalidToken`.
    package func identities(for text: String, in application: Application) async throws -> [Identity] {
        let (_, proof, uid) = try await peek(text, in: application)
        return try await Self.identities(of: uid, reviewedBy: proof, in: application, store: store).filter {
            !$0.isGuest && !proof.isOf($0)
        }
    }

    /// Ends the quarantine of the identities in `keep`, and removes those in `remove`.
    /// - Throws: `AccountsError.invalidToken` for an unknown or used token; `.invalidParameter` for an identity in both
    ///   lists; `.identityNotReviewable` for one of another account, and for one to remove that has a role which the
    ///   identity of the mailbox lacks; `.lastUsableIdentity` if no remaining identity can sign in. After the last three
    ///   errors nothing is changed and the token remains valid.
    package func review(
        _ text: String, keeping keep: [UUID], removing remove: [UUID], in application: Application
    ) async throws {
        let (token, proof, uid) = try await peek(text, in: application)
        guard Set(keep).isDisjoint(with: remove) else {
            throw AccountsError.invalidParameter("remove", reason: "names an identity that is to be kept")
        }
        try await store.retryingTransaction { store in
            guard try await store.consume(.review, hash: token.hash, application: application.id) != nil,
                try await store.lockAccount(uid, application: application.id) == .live
            else { throw AccountsError.invalidToken }
            let known = Set(
                try await Self.identities(of: uid, reviewedBy: proof, in: application, store: store).map(\.id))
            guard known.isSuperset(of: keep + remove) else {
                throw AccountsError.identityNotReviewable(.foreignIdentity)
            }
            let beyond = try await store.identitiesWithRoles(
                beyond: proof.provider, proof.providerUid, of: uid, application: application.id)
            guard beyond.isDisjoint(with: remove) else {
                throw AccountsError.identityNotReviewable(LinkingRule.identityHasRole.refusal)
            }
            try await store.liftQuarantine(of: keep, uid: uid, application: application.id)
            guard !remove.isEmpty else { return }
            let identities = try await store.identities(of: uid, application: application.id)
            let remaining = identities.filter { !remove.contains($0.id) }
            guard application.providers.canSignIn(withAnyOf: remaining) else {
                throw AccountsError.lastUsableIdentity(LinkingRule.lastUsableIdentity.refusal)
            }
            let contact = try await store.contact(of: uid, application: application.id)
            for identity in identities where remove.contains(identity.id) {
                try await IdentityUnlinking(store: store, application: application).unlink(
                    identity, of: uid, notifying: contact)
            }
        }
    }

    /// Returns the identities of the account.
    /// - Throws: `AccountsError.invalidToken` once the mailbox that got the link no longer opens the account. The owner
    ///   may have changed its address because a stranger reads it.
    private static func identities(
        of uid: UUID, reviewedBy proof: Proof, in application: Application, store: some IdentityStore
    ) async throws -> [Identity] {
        let identities = try await store.identities(of: uid, application: application.id)
        guard identities.contains(where: { proof.isOf($0) && !$0.isQuarantined }) else {
            throw AccountsError.invalidToken
        }
        return identities
    }

    private func peek(_ text: String, in application: Application) async throws -> (OpaqueToken, Proof, uid: UUID) {
        guard let token = opaque.parse(text),
            let proof = try await store.peek(.review, hash: token.hash, application: application.id),
            let uid = proof.uid
        else { throw AccountsError.invalidToken }
        return (token, proof, uid)
    }
}
