internal import Foundation
package import ProviderKit

/// Applies the linking rules (`docs/api.md`), as a pure function that tests and administrators can replay.
package func decide(_ evidence: VerifiedIdentity, state: LinkingState, policy: LinkingPolicy) -> LinkingVerdict {
    if let refused = refusal(of: evidence, state: state, mode: policy.mode) { return refused }
    if let quarantined = state.quarantined(evidence, policy: policy) {
        return LinkingVerdict(.identityQuarantined, quarantined)
    }
    // A phone number that was unused for long may have another owner now. If its account has another way in, the person
    // is asked for that; otherwise the number decides as if no account owned it.
    let idle = state.idleOwner(of: evidence, policy: policy)
    if let idle, idle.hasOtherWay {
        return LinkingVerdict(.numberIdle, .otherSignInRequired(of: idle.uid, subject: idle.address.value))
    }
    if let idle, idle.status == .live {
        return decide(evidence, state: state.without(idle), policy: policy).displacing(idle)
    }
    let verdict =
        if let requester = state.requester {
            link(evidence, requester: requester, state: state, policy: policy)
        } else {
            signIn(evidence, state: state, policy: policy)
        }
    // An account in its grace period keeps an idle number, but the number's new owner must not restore the account.
    guard idle == nil else { return verdict.withoutTicket }
    return policy.restoresOnSignIn && state.requester == nil
        ? restoring(verdict, by: evidence, state: state, policy: policy) : verdict
}

/// Decides whether evidence re-authenticates the requester, for which it must be able to sign in by itself.
package func decideReauthentication(
    _ evidence: VerifiedIdentity, state: LinkingState, policy: LinkingPolicy
) -> LinkingVerdict {
    if let refused = refusal(of: evidence, state: state, mode: policy.mode) { return refused }
    guard policy.mode != .linkOnly else { return .refuse(.providerLinkOnly) }
    guard let identity = state.identity, identity.uid == state.requester?.uid else {
        return .refuse(.reauthenticationForeign)
    }
    guard !identity.needsOtherSignIn else {
        return LinkingVerdict(.identityQuarantined, identity.otherSignInRequired(by: evidence))
    }
    return LinkingVerdict(.identityOwn, .signIn(.known(identity)))
}

private func refusal(of evidence: VerifiedIdentity, state: LinkingState, mode: ProviderMode) -> LinkingVerdict? {
    if mode == .off { return .refuse(.providerOff) }
    if state.requester == nil { return mode == .linkOnly ? .refuse(.providerLinkOnly) : nil }
    return evidence.isGuest ? .refuse(.guestNotLinkable) : nil
}

// MARK: - Without a session

private func signIn(_ evidence: VerifiedIdentity, state: LinkingState, policy: LinkingPolicy) -> LinkingVerdict {
    if let identity = state.identity {
        return closed(identity.status, uid: identity.uid) ?? LinkingVerdict(.identityKnown, .signIn(.known(identity)))
    }
    let owners = state.owners(provenBy: evidence)
    let accounts = Set(owners.map(\.uid))
    if policy.automatic == .verified, accounts.count == 1, let owner = owners.first {
        if let closed = closed(owner.status, uid: owner.uid) { return closed }
        guard !owner.isFull else { return LinkingVerdict(.accountFull, .full) }
        return LinkingVerdict(
            .addressOwned, .signIn(.joining(evidence.new(for: owner.uid, in: state), uid: owner.uid)))
    }
    // Joining an account is not a sign-up; creating one is.
    guard policy.mode == .open else { return .refuse(.providerNoSignUp) }
    let rule: LinkingRule =
        if accounts.count > 1 { .addressOfSeveral } else if accounts.count == 1 { .addressNotJoined } else {
            evidence.ruleWithoutOwner
        }
    return LinkingVerdict(rule, .create(evidence.new(for: nil, in: state)))
}

/// The verdict that restores the account, if the sign-in would reach it afterwards; otherwise the verdict itself.
private func restoring(
    _ verdict: LinkingVerdict, by evidence: VerifiedIdentity, state: LinkingState, policy: LinkingPolicy
) -> LinkingVerdict {
    guard case .deleted(let uid, let purgeAfter, offersRestore: true) = verdict.outcome,
        case .signIn(let match) = signIn(evidence, state: state.restored(uid), policy: policy).outcome, match.uid == uid
    else { return verdict }
    return LinkingVerdict(.accountRestored, .restore(by: match, purgeAfter: purgeAfter))
}

// MARK: - With a session

private func link(
    _ evidence: VerifiedIdentity, requester: RequestingAccount, state: LinkingState, policy: LinkingPolicy
) -> LinkingVerdict {
    if let identity = state.identity {
        guard identity.uid != requester.uid else { return LinkingVerdict(.identityOwn, .signIn(.known(identity))) }
        return conflict(
            .identityInUse, with: .known(identity), identity.status, evidence, requester: requester, state: state,
            policy: policy)
    }
    // Evidence that proves only an address of another account belongs to that account.
    if policy.provesAddress, let owner = state.owners(provenBy: evidence).first(where: { $0.uid != requester.uid }) {
        let match = AccountMatch.joining(evidence.new(for: owner.uid, in: state), uid: owner.uid)
        return conflict(
            .addressInUse, with: match, owner.status, evidence, requester: requester, state: state, policy: policy)
    }
    guard !requester.isFull else { return LinkingVerdict(.accountFull, .full) }
    let identity = evidence.new(for: requester.uid, in: state)
    // An identity that cannot sign in does not make a guest permanent.
    return requester.isGuest && policy.mode != .linkOnly
        ? LinkingVerdict(.guestUpgrade, .upgrade(identity, guest: requester.uid))
        : LinkingVerdict(.linkAsked, .link(identity, to: requester.uid))
}

/// The verdict for evidence of another account; a ticket or a guest's move needs evidence that signs in there.
private func conflict(
    _ rule: LinkingRule, with match: AccountMatch, _ status: AccountStatus, _ evidence: VerifiedIdentity,
    requester: RequestingAccount, state: LinkingState, policy: LinkingPolicy
) -> LinkingVerdict {
    let verdict = closed(status, uid: match.uid) ?? LinkingVerdict(rule, .conflict(with: match.uid, offersMerge: true))
    guard policy.mode != .linkOnly, signIn(evidence, state: state, policy: policy).destination == match.uid else {
        return verdict.withoutTicket
    }
    guard requester.isGuest, status == .live else { return verdict }
    return switch policy.onConflict {
    case .keep: verdict
    case .switch: LinkingVerdict(.guestSwitch, .replaceGuest(by: match, isAbsorbed: false))
    case .merge: LinkingVerdict(.guestMerge, .replaceGuest(by: match, isAbsorbed: true))
    }
}

// MARK: - Helpers

/// The verdict for valid evidence when the account is disabled, deleted or merged away; `nil` for a live account.
private func closed(_ status: AccountStatus, uid: UUID) -> LinkingVerdict? {
    switch status {
    case .live: nil
    // An absorbed account has no identities and owns no address, so evidence never leads to it.
    case .disabled, .absorbed: LinkingVerdict(.accountDisabled, .disabled)
    case .deleted(let purgeAfter):
        LinkingVerdict(.accountDeleted, .deleted(uid: uid, purgeAfter: purgeAfter, offersRestore: true))
    }
}

extension LinkingState {
    fileprivate func owners(provenBy evidence: VerifiedIdentity) -> [AddressOwner] {
        let proven = evidence.proven
        return owners.filter { proven.contains($0.address) }
    }

    /// The outcome for evidence that reaches an account only through a quarantined identity.
    ///
    /// This outcome precedes the verdict on an account in its grace period, so that such evidence gets neither a
    /// restore token nor a merge ticket. The result is `nil` for a disabled account, which accepts no sign-in at all.
    fileprivate func quarantined(_ evidence: VerifiedIdentity, policy: LinkingPolicy) -> LinkingOutcome? {
        if let identity {
            return identity.needsOtherSignIn && !identity.status.isDisabled
                ? identity.otherSignInRequired(by: evidence) : nil
        }
        // A proved address leads to its owner when the identity joins the account or conflicts with it.
        guard requester == nil ? policy.automatic == .verified : policy.provesAddress else { return nil }
        let owners = owners(provenBy: evidence).filter { $0.uid != requester?.uid }
        guard let owner = owners.first, owners.allSatisfy({ $0.needsOtherSignIn && $0.uid == owner.uid }),
            !owner.status.isDisabled
        else { return nil }
        return .otherSignInRequired(of: owner.uid, subject: owner.address.value)
    }

    /// The account, other than the requester's, that the evidence reaches only through an idle number.
    fileprivate func idleOwner(of evidence: VerifiedIdentity, policy: LinkingPolicy) -> AddressOwner? {
        let owners = owners(provenBy: evidence)
        guard let owner = owners.first, owners.allSatisfy({ $0.isIdle && $0.uid == owner.uid }),
            owner.uid != requester?.uid
        else { return nil }
        let leadsThere =
            owner.address.phone?.value == evidence.providerUid
            ? identity == nil || identity?.uid == owner.uid
            : identity == nil && requester == nil && policy.automatic == .verified
        return leadsThere ? owner : nil
    }

    /// The state after the number is removed from the account.
    fileprivate func without(_ owner: AddressOwner) -> LinkingState {
        var state = self
        state.owners.removeAll { $0 == owner }
        if state.identity?.uid == owner.uid { state.identity = nil }
        return state
    }
}

extension LinkingState {
    /// The state after the account's grace period was ended.
    fileprivate func restored(_ uid: UUID) -> LinkingState {
        var state = self
        if state.identity?.uid == uid { state.identity?.status = .live }
        for index in state.owners.indices where state.owners[index].uid == uid { state.owners[index].status = .live }
        return state
    }
}

extension KnownIdentity {
    fileprivate func otherSignInRequired(by evidence: VerifiedIdentity) -> LinkingOutcome {
        .otherSignInRequired(of: uid, subject: evidence.providerUid)
    }
}

extension VerifiedIdentity {
    /// The identity to write, which neither claims an address of another account nor shows it as verified.
    fileprivate func new(for uid: UUID?, in state: LinkingState) -> NewIdentity {
        let owned = state.owners.filter { $0.uid == uid }.map(\.address)
        let claiming = proven.filter { address in !state.owners.contains { $0.address == address } }
        return NewIdentity(claiming: claiming, showing: proven.filter { claiming.contains($0) || owned.contains($0) })
    }
}

extension LinkingVerdict {
    /// The account that a sign-in reaches, even if the account is in its grace period and the sign-in is refused.
    fileprivate var destination: UUID? {
        switch outcome {
        case .signIn(let match), .restore(let match, _): match.uid
        case .deleted(let uid, _, _): uid
        default: nil
        }
    }

    fileprivate var withoutTicket: LinkingVerdict {
        switch outcome {
        case .conflict(let uid, _): LinkingVerdict(rule, .conflict(with: uid, offersMerge: false))
        case .deleted(let uid, let purgeAfter, _):
            LinkingVerdict(rule, .deleted(uid: uid, purgeAfter: purgeAfter, offersRestore: false))
        default: self
        }
    }

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
        case .signIn, .restore, .replaceGuest, .conflict, .otherSignInRequired, .deleted, .disabled, .full, .refuse:
            return self
        }
    }
}
