import Accounts
import Crypto
import Foundation
import Testing

@testable import Tokens

struct DerivedTokensTests {
    private let tokens: DerivedTokens
    private let rootKey: RootKey

    init() async throws {
        let store = MemoryStore(time: ManualTime())
        rootKey = try await RootKey.open(store, with: MasterKeys(current: Installation.masterKey))
        tokens = DerivedTokens(rootKey: rootKey)
    }

    @Test func isMadeOfTheRandomBytesAlone() {
        let token = DerivedTokens(rootKey: rootKey) { Array(repeating: 0xFB, count: $0) }.make()
        #expect(token.text == "-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s")
        #expect(token.hash == Array(SHA256.hash(data: Array(repeating: 0xFB, count: 32) as [UInt8])))
    }

    @Test func parsesWhatItMadeToTheSame() {
        let token = tokens.make()
        #expect(tokens.parse(token.text) == token)
        #expect(tokens.parse(tokens.successor(of: token).text) == tokens.successor(of: token))
        #expect(tokens.make() != token)
    }

    /// The texts include the three others that decode to the same 32 bytes.
    @Test(arguments: [
        "", "A", String(repeating: "A", count: 42), String(repeating: "A", count: 44),
        String(repeating: "A", count: 42) + "B", String(repeating: "A", count: 42) + "C",
        String(repeating: "A", count: 42) + "D", String(repeating: "A", count: 42) + "=",
        String(repeating: "A", count: 42) + "+", String(repeating: "A", count: 42) + "\u{0}",
        String(repeating: "A", count: 41) + "é", " " + String(repeating: "A", count: 42),
        String(repeating: "é", count: 43), String(repeating: "A", count: 10_000_000),
    ])
    func refuses(text: String) {
        #expect(tokens.parse(text) == nil)
    }

    @Test func theSuccessorIsAlwaysTheSameAndNeedsTheKey() async throws {
        let token = tokens.make()
        let successor = tokens.successor(of: token)
        #expect(tokens.successor(of: token) == successor)
        #expect(tokens.successor(of: successor) != token)
        let store = MemoryStore(time: ManualTime())
        let other = try await RootKey.open(store, with: MasterKeys(current: Installation.masterKey))
        #expect(DerivedTokens(rootKey: other).successor(of: token) != successor)
    }

    @Test func pseudonymsAreStableAndKeptApart() {
        let pseudonym = tokens.pseudonym(of: "a@b.example", purpose: "audit")
        #expect(pseudonym.count == 32)
        #expect(tokens.pseudonym(of: "a@b.example", purpose: "audit") == pseudonym)
        #expect(tokens.pseudonym(of: "a@b.example", purpose: "limit") != pseudonym)
        #expect(tokens.pseudonym(of: "c@b.example", purpose: "audit") != pseudonym)
        #expect(tokens.pseudonym(of: "b", purpose: "a") != tokens.pseudonym(of: "", purpose: "ab"))
    }

    /// Pseudonyms are stored in the database in plain text, so they must never equal a successor token.
    @Test func aPseudonymIsNoSuccessor() {
        let token = tokens.make()
        let successor = Base64URL.decode(tokens.successor(of: token).text.utf8)
        #expect(tokens.pseudonym(of: token.text, purpose: "") != successor)
    }
}
