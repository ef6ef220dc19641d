internal import Foundation
package import ProviderKit

/// The linking rules, as the table of the contract's section 4 has them.
///
/// Pure, so that a verdict can be tested by cases, explained to a person and replayed by an admin.
package func decide(_ evidence: VerifiedIdentity, state: LinkingState, policy: LinkingPolicy) -> LinkingVerdict {
    if let refused = refusal(of: evidence, state: state, mode: policy.mode) { return refused }
    if let idle = state.idleOwner(of: evidence, policy: policy) {
        guard !idle.hasOtherWay else { return LinkingVerdict(.numberIdle, .secondProof(idle)) }
        return decide(evidence, state: state.without(idle), policy: policy).displacing(idle)
    }
    if let asking = state.asking { return link(evidence, asking: asking, state: state, policy: policy) }
    return signIn(evidence, state: state, policy: policy)
}

private func refusal(of evidence: VerifiedIdentity, state: LinkingState, mode: ProviderMode) -> LinkingVerdict? {
    if mode == .off { return .refuse(.providerOff) }
    if state.asking == nil { return mode == .linkOnly ? .refuse(.providerLinkOnly) : nil }
    return evidence.isGuest ? .refuse(.guestNotLinkable) : nil
}

// MARK: - Without a session

private func signIn(_ evidence: VerifiedIdentity, state: LinkingState, policy: LinkingPolicy) -> LinkingVerdict {
    if let identity = state.identity {
        return closed(identity.status, uid: identity.uid) ?? LinkingVerdict(.identityKnown, .enter(.known(identity)))
    }
    let owners = state.owners(provenBy: evidence)
    let accounts = Set(owners.map(\.uid))
    if policy.automatic == .verified, accounts.count == 1, let owner = owners.first {
        return closed(owner.status, uid: owner.uid)
            ?? LinkingVerdict(.addressOwned, .enter(.joining(evidence.new(for: owner.uid, in: state), uid: owner.uid)))
    }
    // Joining an account is no sign-up, opening one is.
    guard policy.mode == .open else { return .refuse(.providerNoSignUp) }
    let rule: LinkingRule =
        if accounts.count > 1 { .addressOfSeveral } else if accounts.count == 1 { .addressNotJoined } else {
            evidence.addresses.isEmpty ? .identityNew : evidence.proven.isEmpty ? .addressUnproven : .addressProven
        }
    return LinkingVerdict(rule, .create(evidence.new(for: nil, in: state)))
}

// MARK: - Asked for by a session

private func link(
    _ evidence: VerifiedIdentity, asking: AskingAccount, state: LinkingState, policy: LinkingPolicy
) -> LinkingVerdict {
    if let identity = state.identity {
        guard identity.uid != asking.uid else { return LinkingVerdict(.identityOwn, .enter(.known(identity))) }
        return closed(identity.status, uid: identity.uid)
            ?? conflict(.identityInUse, with: .known(identity), asking: asking, policy: policy)
    }
    // Who proves an address of another account, and nothing else, has found that account.
    if policy.provesAddress, let owner = state.owners(provenBy: evidence).first(where: { $0.uid != asking.uid }) {
        return closed(owner.status, uid: owner.uid)
            ?? conflict(
                .addressInUse, with: .joining(evidence.new(for: owner.uid, in: state), uid: owner.uid), asking: asking,
                policy: policy)
    }
    let identity = evidence.new(for: asking.uid, in: state)
    // What can't sign in makes nobody permanent: the guest stays one beside it.
    return asking.isGuest && policy.mode != .linkOnly
        ? LinkingVerdict(.guestUpgrade, .upgrade(identity, guest: asking.uid))
        : LinkingVerdict(.linkAsked, .link(identity, to: asking.uid))
}

private func conflict(
    _ rule: LinkingRule, with entry: Entry, asking: AskingAccount, policy: LinkingPolicy
) -> LinkingVerdict {
    // A guest may go where a sign-in without it would have led.
    var leadsThere = policy.mode != .linkOnly
    if case .joining = entry { leadsThere = leadsThere && policy.automatic == .verified }
    guard asking.isGuest, leadsThere else { return LinkingVerdict(rule, .conflict(with: entry.uid)) }
    return switch policy.onConflict {
    case .keep: LinkingVerdict(rule, .conflict(with: entry.uid))
    case .switch: LinkingVerdict(.guestSwitch, .replaceGuest(by: entry, isAbsorbed: false))
    case .merge: LinkingVerdict(.guestMerge, .replaceGuest(by: entry, isAbsorbed: true))
    }
}

// MARK: - Parts

/// What an account that is not live answers to a right proof.
private func closed(_ status: AccountStatus, uid: UUID) -> LinkingVerdict? {
    switch status {
    case .live: nil
    // An alias has no identities and owns nothing: evidence never names one.
    case .disabled, .absorbed: LinkingVerdict(.accountDisabled, .disabled)
    case .deleted(let purgeAfter): LinkingVerdict(.accountDeleted, .deleted(uid: uid, purgeAfter: purgeAfter))
    }
}

extension LinkingState {
    fileprivate func owners(provenBy evidence: VerifiedIdentity) -> [AddressOwner] {
        let proven = evidence.proven
        return owners.filter { proven.contains($0.address) }
    }

    /// The account, not the asking one, that an idle number alone leads to.
    ///
    /// Such a number is no right proof: where another way in remains, not even of an account that is not live, which
    /// would offer its restore token.
    fileprivate func idleOwner(of evidence: VerifiedIdentity, policy: LinkingPolicy) -> AddressOwner? {
        let owners = owners(provenBy: evidence)
        guard let owner = owners.first, owners.allSatisfy({ $0.isIdle && $0.uid == owner.uid }),
            owner.uid != asking?.uid, owner.status == .live || owner.hasOtherWay
        else { return nil }
        let leadsThere =
            owner.address.phone?.value == evidence.providerUid
            ? identity == nil || identity?.uid == owner.uid
            : identity == nil && asking == nil && policy.automatic == .verified
        return leadsThere ? owner : nil
    }

    /// The rows as they will be once the number has left the account.
    fileprivate func without(_ owner: AddressOwner) -> LinkingState {
        var state = self
        state.owners.removeAll { $0 == owner }
        if state.identity?.uid == owner.uid { state.identity = nil }
        return state
    }
}

extension VerifiedIdentity {
    /// As it joins that account, or opens one; what another account owns is not claimed, and not shown as verified.
    fileprivate func new(for uid: UUID?, in state: LinkingState) -> NewIdentity {
        let owned = state.owners.filter { $0.uid == uid }.map(\.address)
        let claiming = proven.filter { address in !state.owners.contains { $0.address == address } }
        return NewIdentity(claiming: claiming, showing: proven.filter { claiming.contains($0) || owned.contains($0) })
    }
}

extension LinkingVerdict {
    fileprivate func displacing(_ owner: AddressOwner) -> LinkingVerdict {
        switch outcome {
        case .create(var identity):
            identity.displacing = owner
            return LinkingVerdict(.numberRecycled, .create(identity))
        case .link(var identity, let uid):
            identity.displacing = owner
            return LinkingVerdict(.numberRecycled, .link(identity, to: uid))
        case .upgrade(var identity, let guest):
            identity.displacing = owner
            return LinkingVerdict(.numberRecycled, .upgrade(identity, guest: guest))
        case .enter, .replaceGuest, .conflict, .secondProof, .deleted, .disabled, .refuse:
            return self
        }
    }
}
