internal import Foundation
internal import ProviderKit

extension Examination {
    mutating func examineProofs() async {
        fixtures.service.condition = .working
        guard let provider = provider() else { return }
        if let redirect = provider as? any RedirectProvider { await examineWayOut(redirect) }
        for (index, good) in fixtures.proofs.enumerated() {
            let what = "good proof \(index + 1)"
            let first = await examine(good, at: provider, what)
            let second = await examine(good, at: provider, what + ", presented again,")
            guard let first, let second, good.providerUid != nil else { continue }
            expect(first == second, "\(what) gives other evidence when it is presented again")
        }
        for (name, proof) in fixtures.badProofs {
            switch await outcome(of: proof, at: provider) {
            case .identity: expect(false, "bad proof \(name) is taken")
            case .undecodable: break
            case .error(let error):
                examine(error, "bad proof \(name)")
                let isUnavailable = error as? ProviderError == .unavailable
                expect(!isUnavailable, "bad proof \(name) is not refused: it counts as a service that is down")
            }
        }
    }

    private mutating func examine(_ good: GoodProof, at provider: P, _ what: String) async -> VerifiedIdentity? {
        switch await outcome(of: good.proof, at: provider) {
        case .identity(let identity):
            if let uid = good.providerUid {
                expect(identity.providerUid == uid, "\(what) proves \(identity.providerUid) instead of \(uid)")
            }
            if case .native = good.proof {
                let isOnce = (identity.singleUse ?? identity.singleReauthentication) != nil
                expect(identity.authenticatedAt != nil && isOnce, "\(what) re-authenticates at any age, or twice")
            }
            examine(identity, what)
            return identity
        case .undecodable: expect(false, "\(what) is no body of the route")
        case .error(let error): expect(false, "\(what) is refused: \(error)")
        }
        return nil
    }

    /// Checks the rules that the evidence of every provider must follow.
    private mutating func examine(_ identity: VerifiedIdentity, _ what: String) {
        expect((1...255).contains(identity.providerUid.utf8.count), "\(what): providerUid is not of 1 to 255 bytes")
        expect(!identity.providerUid.contains("\0"), "\(what): providerUid holds U+0000")
        expect(!identity.isGuest || identity.addresses.isEmpty, "\(what): a guest has an address")
        for claim in identity.addresses {
            expect(claim.isVerified || !claim.isAuthoritative, "\(what): an unverified address is authoritative")
        }
        let kinds = identity.addresses.map(\.address.kind)
        expect(Set(kinds).count == kinds.count, "\(what): there are two addresses of one kind")
        let name = identity.displayName
        expect(name.map { (1...256).contains($0.utf8.count) } ?? true, "\(what): the name is empty or over 256 bytes")
        expect(!identity.methods.contains(""), "\(what): a method is empty")
        if let use = identity.singleUse {
            expect(!use.id.isEmpty && use.expires > fixtures.now, "\(what): the mark of its one use is empty or over")
        }
        let copy = (try? JSONEncoder().encode(identity)).flatMap {
            try? JSONDecoder().decode(VerifiedIdentity.self, from: $0)
        }
        expect(copy == identity, "\(what): the evidence does not survive being stored")
    }

    private mutating func examineWayOut(_ provider: any RedirectProvider) async {
        let flow = ProviderConformance.flow
        do {
            let url = URLComponents(string: try await provider.authorizationURL(for: flow))
            let query = Dictionary(url?.queryItems?.map { ($0.name, $0.value ?? "") } ?? []) { $1 }
            expect(url?.host?.isEmpty == false, "the authorization URL is not absolute")
            expect(query["state"] == flow.state, "the authorization URL has another state")
            expect(query["redirect_uri"] == flow.callbackURL, "the authorization URL leads back elsewhere")
        } catch {
            expect(false, "there is no authorization URL: \(error)")
        }
    }
}
