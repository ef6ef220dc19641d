import Accounts
import Foundation
import ProviderKit
import Testing

/// Every combination of what bears on a linking decision, against a slower statement of the contract.
struct LinkingDecisionTests {
    @Test func `every combination is decided as the contract says`() {
        var (wrong, examples) = (0, [String: String]())
        for situation in Situation.all {
            let judged = Judgement(situation)
            let verdict = decide(
                judged.evidence, state: judged.world.state(about: judged.evidence), policy: situation.policy)
            guard let expected = judged.expected, verdict != expected.verdict else { continue }
            wrong += 1
            let lesson = "\(expected.rule.words): \(expected.verdict.rule), not \(verdict.rule)"
            if examples[lesson] == nil {
                examples[lesson] = "\(situation)\n    expected \(expected.verdict)\n    decided \(verdict)"
            }
        }
        let told = examples.sorted { $0.key < $1.key }.map { "\($0.key)\n    \($0.value)" }.joined(separator: "\n")
        #expect(wrong == 0, "\(told)")
    }

    /// A table that leaves a rule out would let it be broken.
    @Test func `every rule of the contract applies to some combination`() {
        var applied: Set<String> = []
        for situation in Situation.all { _ = Judgement(situation).expected.map { applied.insert($0.rule.words) } }
        #expect(applied == Set(ContractRule.all.map(\.words)))
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
            let state = LinkingState(asking: AskingAccount(uid: UUID(), isGuest: isGuest))
            #expect(
                decide(evidence, state: state, policy: policy)
                    == LinkingVerdict(mode == .off ? .providerOff : .guestNotLinkable, .refuse))
        }
    }

    @Test func `every refusal has remedies, and nothing else has`() {
        for situation in Situation.all {
            guard let verdict = Judgement(situation).expected?.verdict else { continue }
            switch verdict.outcome {
            case .enter, .create, .link, .upgrade, .replaceGuest: #expect(verdict.rule.remedies.isEmpty)
            case .conflict, .secondProof, .deleted, .disabled, .refuse: #expect(!verdict.rule.remedies.isEmpty)
            }
        }
    }
}
