internal import Foundation
internal import ProviderKit

extension Examination {
    /// Replaces each text in each good proof by invalid text.
    ///
    /// The provider must not trap or accept the proof for another person, and must refuse a changed signed token.
    mutating func examineGarbage() async {
        fixtures.service.condition = .working
        guard let provider = provider() else { return }
        for (index, good) in fixtures.proofs.enumerated() {
            for variant in good.proof.variants {
                let what = "good proof \(index + 1) with \(variant.change)"
                switch await outcome(of: variant.proof, at: provider) {
                case .undecodable: break
                case .error(let error):
                    examine(error, what)
                    expect(error as? ProviderError != .unavailable, "\(what) counts as a service that is down")
                case .identity(let identity):
                    expect(!variant.isWorthless, "\(what) is taken")
                    let isSame = good.providerUid == nil || identity.providerUid == good.providerUid
                    expect(isSame, "\(what) proves somebody else")
                }
            }
        }
    }
}

/// A good proof with one change.
struct ProofVariant {
    let proof: ProviderProof
    /// A description of the change, for the report.
    let change: String
    /// Whether the provider must refuse the variant.
    let isWorthless: Bool
}

extension ProviderProof {
    var variants: [ProofVariant] {
        switch self {
        case .credential(let body, let origin):
            let members = body.object ?? [:]
            let texts = Garbage.variants(of: members) { ProviderProof.credential(.object($0), from: origin) }
            let others: [JSONValue] = [.null, true, -1, [[]], [:], .number(1e300), .string("{}")]
            let forms = members.keys.sorted().flatMap { name in
                others.map { other in
                    ProofVariant(
                        proof: .credential(.object(members.merging([name: other]) { $1 }), from: origin),
                        change: "\(name) of another form", isWorthless: false)
                }
            }
            return texts + forms
        case .native(let token):
            let members: [String: JSONValue] = [
                "idToken": .string(token.idToken), "nonce": token.nonce.map(JSONValue.string) ?? .null,
                "accessToken": token.accessToken.map(JSONValue.string) ?? .null,
            ]
            return Garbage.variants(of: members) { members in
                .native(
                    NativeToken(
                        idToken: members["idToken"]?.string ?? "", nonce: members["nonce"]?.string,
                        accessToken: members["accessToken"]?.string))
            }
        case .callback(let parameters):
            return Garbage.variants(of: parameters.mapValues { .string($0) }) {
                .callback($0.compactMapValues(\.string))
            }
        }
    }
}
