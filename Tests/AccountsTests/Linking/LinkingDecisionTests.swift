import Foundation
import ProviderKit
import Testing

@testable import Accounts

/// Compares the decision for every combination of inputs with a separate, slower implementation of docs/api.md.
struct LinkingDecisionTests {
    @Test func `every combination is decided according to the documented rules`() {
        compare(Situation.all, with: ContractRule.all, decide)
    }

    @Test func `every combination re-authenticates according to the documented rules`() {
        compare(
            Situation.all.filter { $0.session != .none }, with: ContractRule.reauthentication, decideReauthentication)
    }

    private func compare(
        _ situations: [Situation], with rules: [ContractRule],
        _ decide: (VerifiedIdentity, LinkingState, LinkingPolicy) -> LinkingVerdict
    ) {
        var (wrong, examples) = (0, [String: String]())
        for situation in situations {
            let judged = Judgement(situation)
            let verdict = decide(judged.evidence, judged.world.state(about: judged.evidence), situation.policy)
            guard let expected = judged.expected(by: rules), verdict != expected.verdict else { continue }
            wrong += 1
            let lesson = "\(expected.rule.words): \(expected.verdict.rule), not \(verdict.rule)"
            if examples[lesson] == nil {
                examples[lesson] = "\(situation)\n    expected \(expected.verdict)\n    decided \(verdict)"
            }
        }
        let told = examples.sorted { $0.key < $1.key }.map { "\($0.key)\n    \($0.value)" }.joined(separator: "\n")
        #expect(wrong == 0, "\(told)")
    }

    /// A rule that applies to no combination would never be tested.
    @Test func `every rule applies to some combination`() {
        var applied: Set<String> = []
        for judged in Situation.all.map(Judgement.init) {
            for rules in [ContractRule.all, ContractRule.reauthentication] {
                if let rule = judged.expected(by: rules)?.rule { applied.insert(rule.words) }
            }
        }
        #expect(applied == Set((ContractRule.all + ContractRule.reauthentication).map(\.words)))
    }

    @Test(arguments: ProviderMode.allCases)
    func `a guest is new, and never linked`(mode: ProviderMode) {
        let evidence = VerifiedIdentity(providerUid: "guest", isGuest: true)
        let policy = LinkingPolicy(mode: mode, automatic: .verified)
        let alone = decide(evidence, state: LinkingState(), policy: policy)
        switch mode {
        case .open: #expect(alone == LinkingVerdict(.identityNew, .create(NewIdentity())))
        case .existing: #expect(alone == LinkingVerdict(.providerNoSignUp, .refuse))
        case .linkOnly: #expect(alone == LinkingVerdict(.providerLinkOnly, .refuse))
        case .off: #expect(alone == LinkingVerdict(.providerOff, .refuse))
        }
        for isGuest in [false, true] {
            let state = LinkingState(requester: RequestingAccount(uid: UUID(), isGuest: isGuest))
            #expect(
                decide(evidence, state: state, policy: policy)
                    == LinkingVerdict(mode == .off ? .providerOff : .guestNotLinkable, .refuse))
        }
    }

    @Test func `a full account takes no further identity`() {
        let (uid, address) = (UUID(), World.address)
        let evidence = VerifiedIdentity(
            providerUid: "new", addresses: [AddressClaim(address: address, isVerified: true, isAuthoritative: true)])
        let policy = LinkingPolicy(mode: .open, automatic: .verified)
        var owner = AddressOwner(address: address, uid: uid, status: .live)
        owner.isFull = true
        let full = LinkingVerdict(.accountFull, .full)
        #expect(decide(evidence, state: LinkingState(owners: [owner]), policy: policy) == full)
        let requester = RequestingAccount(uid: uid, isGuest: false, isFull: true)
        #expect(decide(evidence, state: LinkingState(requester: requester), policy: policy) == full)
        let known = KnownIdentity(id: UUID(), uid: uid, status: .live)
        let state = LinkingState(identity: known, owners: [owner], requester: requester)
        #expect(decide(evidence, state: state, policy: policy) == LinkingVerdict(.identityOwn, .signIn(.known(known))))
    }

    @Test func `a sign-in restores exactly the accounts for which it would get a token`() {
        var (restored, wrong) = (0, 0)
        for situation in Situation.all {
            let judged = Judgement(situation)
            let state = judged.world.state(about: judged.evidence)
            var policy = situation.policy
            let usual = decide(judged.evidence, state: state, policy: policy)
            policy.restoresOnSignIn = true
            let verdict = decide(judged.evidence, state: state, policy: policy)
            guard state.requester == nil, case .deleted(let uid, let end, offersRestore: true) = usual.outcome else {
                if verdict != usual { wrong += 1 }
                continue
            }
            if case .restore(by: let match, purgeAfter: end) = verdict.outcome, match.uid == uid {
                restored += 1
            } else {
                wrong += 1
            }
        }
        #expect(restored > 0 && wrong == 0)
    }

    @Test func `a full account is not restored by an identity that could not join it`() {
        let (uid, address) = (UUID(), World.address)
        let evidence = VerifiedIdentity(
            providerUid: "new", addresses: [AddressClaim(address: address, isVerified: true, isAuthoritative: true)])
        var owner = AddressOwner(address: address, uid: uid, status: .deleted(purgeAfter: .distantFuture))
        owner.isFull = true
        var policy = LinkingPolicy(mode: .open, automatic: .verified)
        policy.restoresOnSignIn = true
        let verdict = decide(evidence, state: LinkingState(owners: [owner]), policy: policy)
        #expect(verdict.rule == .accountDeleted)
        owner.isFull = false
        #expect(decide(evidence, state: LinkingState(owners: [owner]), policy: policy).rule == .accountRestored)
    }

    @Test func `exactly the refusals have remedies`() {
        for situation in Situation.all {
            guard let verdict = Judgement(situation).expected()?.verdict else { continue }
            let remedies = verdict.refusal.remedies
            switch verdict.outcome {
            case .signIn, .create, .link, .upgrade, .replaceGuest, .restore: #expect(remedies.isEmpty)
            case .otherSignInRequired, .disabled, .full, .refuse: #expect(!remedies.isEmpty)
            case .conflict(_, let isOffered), .deleted(_, _, let isOffered):
                #expect(!remedies.isEmpty)
                #expect((verdict.refusal == verdict.rule.refusal) == isOffered, "no ticket is named that is not there")
            }
        }
    }
}
