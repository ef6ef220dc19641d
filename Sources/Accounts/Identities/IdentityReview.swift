package import Foundation
internal import ProviderKit

/// Lets an owner keep or remove recently linked identities, from a link in the mail about a password reset.
package struct IdentityReview: Sendable {
    typealias Store = AccountLocks & ProofStore & IdentityStore & QuarantineStore & IdentityUnlinking.Store

    let store: any TransactionalStore & Store
    let opaque: any OpaqueTokens

    /// Returns the identities except guests and the one whose password was reset, without consuming the token.
    /// - Throws: `AccountsError.invalidToken`.
    package func identities(for text: String, in application: Application) async throws -> [Identity] {
        let (_, proof, uid) = try await peek(text, in: application)
        return try await store.identities(of: uid, application: application.id).filter {
            !$0.isGuest && ($0.provider != proof.provider || $0.providerUid != proof.providerUid)
        }
    }

    /// Ends the quarantine of the identities in `keep`, and removes those in `remove`.
    /// - Throws: `AccountsError.invalidToken` for an unknown or used token; `.invalidParameter` for an identity of
    ///   another account; `.lastUsableIdentity` if no remaining identity can sign in. After the last two errors nothing
    ///   is changed and the token remains valid.
    package func review(
        _ text: String, keeping keep: [UUID], removing remove: [UUID], in application: Application
    ) async throws {
        let (token, _, uid) = try await peek(text, in: application)
        guard Set(keep).isDisjoint(with: remove) else {
            throw AccountsError.invalidParameter("remove", reason: "names an identity that is to be kept")
        }
        try await store.retryingTransaction { store in
            guard try await store.consume(.review, hash: token.hash, application: application.id) != nil,
                try await store.lockAccount(uid, application: application.id) == .live
            else { throw AccountsError.invalidToken }
            let known = Set(try await store.identities(of: uid, application: application.id).map(\.id))
            for (field, ids) in [("keep", keep), ("remove", remove)] {
                guard known.isSuperset(of: ids) else {
                    throw AccountsError.invalidParameter(field, reason: "names an identity that is not the account's")
                }
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

    private func peek(_ text: String, in application: Application) async throws -> (OpaqueToken, Proof, uid: UUID) {
        guard let token = opaque.parse(text),
            let proof = try await store.peek(.review, hash: token.hash, application: application.id),
            let uid = proof.uid
        else { throw AccountsError.invalidToken }
        return (token, proof, uid)
    }
}
