internal import ProviderKit

extension Examination {
    /// Checks that a provider reports an outage in time if its service is down or returns invalid responses.
    mutating func examineOutages() async {
        defer { fixtures.service.condition = .working }
        for condition in ScriptedService.Condition.allCases where condition != .working {
            fixtures.service.condition = .working
            guard let warm = provider(), let cold = provider() else { return }
            for good in fixtures.proofs { _ = await outcome(of: good.proof, at: warm) }
            fixtures.service.condition = condition
            for (index, good) in fixtures.proofs.enumerated() {
                let what = "good proof \(index + 1) with a service that is \(condition.rawValue)"
                await examine(good, at: cold, what, isCold: true)
                await examine(good, at: warm, what + " by now", isCold: false)
            }
            for (name, proof) in fixtures.badProofs {
                if case .identity = await outcome(of: proof, at: warm) {
                    expect(false, "bad proof \(name) is taken with a service that is \(condition.rawValue)")
                }
            }
            if let tokens = fixtures.tokens { await examineRevoking(tokens, at: warm, condition) }
        }
    }

    private mutating func examine(_ good: GoodProof, at provider: P, _ what: String, isCold: Bool) async {
        let start = ContinuousClock.now
        switch await outcome(of: good.proof, at: provider) {
        case .identity(let identity):
            if isCold { expect(good.offline == .works, "\(what) is taken, though the service cannot confirm it") }
            let isSame = good.providerUid == nil || identity.providerUid == good.providerUid
            expect(isSame, "\(what) proves somebody else")
        case .undecodable: break
        case .error(let error):
            examine(error, what)
            if isCold { expect(good.offline == .unavailable, "\(what) is refused: \(error)") }
            // For a service that responds with `{}`, the provider may also refuse the proof.
            let isRefusal = fixtures.service.condition == .sayingNothing && error as? ProviderError == .refused
            expect(isRefusal || error as? ProviderError == .unavailable, "\(what) is refused for good: \(error)")
        }
        expect(ContinuousClock.now - start < Self.patience, "\(what) takes longer than \(Self.patience)")
    }

    private mutating func examineRevoking(
        _ tokens: ProviderTokens, at provider: P, _ condition: ScriptedService.Condition
    ) async {
        guard let revoking = provider as? any RevokingProvider else {
            expect(false, "the fixtures have tokens, and the provider gives none back")
            return
        }
        if [.down, .failing].contains(condition) {
            do {
                try await revoking.revoke(tokens)
                expect(false, "tokens count as given back with a service that is \(condition.rawValue)")
            } catch {
                examine(error, "giving tokens back with a service that is \(condition.rawValue)")
                expect(error as? ProviderError == .unavailable, "giving tokens back is not tried again: \(error)")
            }
        }
        fixtures.service.condition = .working
        for _ in 1...2 {
            do {
                try await revoking.revoke(tokens)
            } catch {
                expect(false, "tokens can't be given back: \(error)")
            }
        }
        fixtures.service.condition = condition
    }
}
