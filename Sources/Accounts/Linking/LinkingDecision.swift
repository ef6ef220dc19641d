package import Foundation
package import ProviderKit

/// What evidence means, given the rows.
package enum LinkingVerdict: Sendable, Equatable {
    /// The identity is known and its account is live.
    case signIn(KnownIdentity)
    /// The identity is new and joins the one live account that owns an address it proves.
    case join(uid: UUID, claiming: [Address])
    /// A new account; `claiming` are the proven addresses that nobody owns.
    case create(claiming: [Address])
    /// The proof is right and leads to an account in its grace period.
    case deleted(uid: UUID, purgeAfter: Date)
    case disabled
    case refuse(Refusal)
}

/// The linking rules for a sign-in without a session, as the table of the contract's section 4 has them.
///
/// Pure, so that a verdict can be tested by cases, explained to a person and replayed by an admin.
package func decide(_ evidence: VerifiedIdentity, state: LinkingState, policy: LinkingPolicy) -> LinkingVerdict {
    guard policy.mode != .off else { return .refuse(.off("This provider")) }
    guard policy.mode != .linkOnly else { return .refuse(.linkOnly) }
    if let identity = state.identity {
        return verdict(for: identity.status, uid: identity.uid) ?? .signIn(identity)
    }

    let proven = evidence.proven
    let owners = state.owners.filter { proven.contains($0.address) }
    let unowned = proven.filter { address in !owners.contains { $0.address == address } }
    guard policy.automatic == .verified, let owner = owners.first, owners.allSatisfy({ $0.uid == owner.uid }) else {
        // Joining an account is no sign-up, opening one is.
        return policy.mode == .open ? .create(claiming: unowned) : .refuse(.noSignUp)
    }
    return verdict(for: owner.status, uid: owner.uid) ?? .join(uid: owner.uid, claiming: unowned)
}

private func verdict(for status: AccountStatus, uid: UUID) -> LinkingVerdict? {
    switch status {
    case .live: nil
    case .disabled: .disabled
    case .deleted(let purgeAfter): .deleted(uid: uid, purgeAfter: purgeAfter)
    }
}

extension Refusal {
    static let linkOnly = Refusal(
        rule: "provider.link-only", reason: "This provider can only be linked to an account that is signed in",
        remedies: ["Sign in with another provider, then link this one."])
    static let noSignUp = Refusal(
        rule: "provider.no-sign-up", reason: "This provider opens no new accounts",
        remedies: ["Sign in with another provider, then link this one."])
}
