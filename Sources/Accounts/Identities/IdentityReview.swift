package import Foundation
internal import ProviderKit

/// What the mail of a password reset leads to: its reader says which identities are theirs, and removes the others.
package struct IdentityReview: Sendable {
    typealias Store = AccountLocks & ProofStore & IdentityStore & QuarantineStore & IdentityUnlinking.Store

    let store: any TransactionalStore & Store
    let opaque: any OpaqueTokens

    /// The account's identities but for the one that was reset; the token stays good.
    /// - Throws: `AccountsError.invalidToken`.
    package func identities(for text: String, in application: Application) async throws -> [Identity] {
        let (_, proof, uid) = try await peek(text, in: application)
        return try await store.identities(of: uid, application: application.id).filter {
            !$0.isGuest && ($0.provider != proof.provider || $0.providerUid != proof.providerUid)
        }
    }

    /// Lifts the quarantine of identities that are kept, and removes others as their owner would.
    ///
    /// - Throws: `AccountsError.invalidToken` for a token that is unknown or used. After `.invalidParameter`, for an
    ///   identity that is not the account's, and `.lastUsableIdentity` nothing has changed, and the token is still good.
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
            for identity in identities where remove.contains(identity.id) {
                try await IdentityUnlinking(store: store, application: application).unlink(identity, of: uid)
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
