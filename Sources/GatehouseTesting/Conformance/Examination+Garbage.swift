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

/// Invalid texts for tests, the same in each run.
enum Garbage {
    /// Texts that replace any text of a proof or an event.
    private static let texts: [(text: String, name: String)] =
        [
            ("", "nothing"), (" ", "a space"), ("null", "null"), ("...", "dots"), ("..", "two dots"), (".", "a dot"),
            ("a.b.c", "three letters"), ("eyJhbGciOiJub25lIn0.e30.", "an unsigned token"),
            ("eyJhbGciOiJub25lIn0.W10.AAAA", "a token without claims"), ("\u{202E}\u{1F4A3}\u{0301}", "odd letters"),
            (String(repeating: "a", count: 20_000), "20000 letters"),
            (String(repeating: "[", count: 20_000), "20000 brackets"),
            (String(repeating: ".", count: 20_000), "20000 dots"), ("-----BEGIN PUBLIC KEY-----", "half a key"),
            ("${HOME}", "a variable"), ("' OR 1=1 --", "a piece of SQL"), ("https://stranger.example/", "a URL"),
        ] + (1...16).map { (noise(seed: $0), "noise \($0)") }

    /// Returns variants of a proof, in which one text of `members`, at any depth, is replaced by an invalid or slightly
    /// changed text.
    static func variants(
        of members: [String: JSONValue], _ proof: ([String: JSONValue]) -> ProviderProof
    ) -> [ProofVariant] {
        members.keys.sorted().flatMap { name in
            replacements(of: members[name] ?? .null, at: name).map { value, change, isWorthless in
                ProofVariant(
                    proof: proof(members.merging([name: value]) { $1 }), change: change, isWorthless: isWorthless)
            }
        }
    }

    /// Returns replacements for the payload of an event.
    static func variants(ofPayload payload: String) -> [(payload: String, change: String)] {
        replacements(of: .string(payload), at: "payload").compactMap { value, change, _ in
            value.string.map { ($0, change) }
        }
    }

    private static func replacements(
        of value: JSONValue, at name: String
    ) -> [(value: JSONValue, change: String, isWorthless: Bool)] {
        switch value {
        case .string(let text):
            let isSigned = text.isCompactJWS
            let others = texts.map { (JSONValue.string($0.text), "\($0.name) as \(name)", isSigned) }
            return others + slips(in: text).map { (.string($0), "a slip in \(name)", isSigned) }
        case .object(let members):
            return members.keys.sorted().flatMap { key in
                replacements(of: members[key] ?? .null, at: "\(name).\(key)").map { inner, change, isWorthless in
                    (.object(members.merging([key: inner]) { $1 }), change, isWorthless)
                }
            }
        default: return []
        }
    }

    /// Returns changed copies of a text: cut, doubled, and with one character changed at several places.
    private static func slips(in text: String) -> [String] {
        guard text.count > 4 else { return [] }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let places = parts.map { ($0.startIndex, $0.count) }.filter { $0.1 > 4 }
            .flatMap { start, count in [text.index(start, offsetBy: 1), text.index(start, offsetBy: count / 2)] }
        let changed = places.map { place in
            let other: Character = text[place] == "A" ? "B" : "A"
            return text[..<place] + String(other) + text[text.index(after: place)...]
        }
        return changed.map(String.init) + [
            String(text.prefix(text.count / 2)), String(text.dropLast()), text + text, text + ".", "." + text,
            text + "=", " " + text, text + "\n",
        ]
    }

    /// Pseudo-random bytes decoded as UTF-8, in which invalid sequences become U+FFFD.
    private static func noise(seed: Int) -> String {
        var generator = SeededGenerator(seed: UInt64(seed))
        // U+0000 is left out, because the server itself refuses it.
        let bytes = (0..<(seed * 37)).map { _ in UInt8.random(in: 1 ... .max, using: &generator) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    /// Whether the text has three parts and begins with an encoded JSON object.
    fileprivate var isCompactJWS: Bool { hasPrefix("eyJ") && split(separator: ".").count == 3 }
}
