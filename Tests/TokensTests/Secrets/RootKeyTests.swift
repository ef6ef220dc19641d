import Accounts
import Foundation
import Testing

@testable import Tokens

struct RootKeyTests {
    private static let old = Data(repeating: 1, count: 32).base64EncodedString()
    private static let new = Data(repeating: 2, count: 32).base64EncodedString()
    private static let third = Data(repeating: 3, count: 32).base64EncodedString()
    private static let place = SealingPlace(application: 1, table: "t", column: "c", row: "r")

    private let store = MemoryStore(time: ManualTime())

    private func open(current: String, previous: [String] = [], renewing: Bool = true) async throws -> Sealer {
        let keys = try MasterKeys(current: current, previous: previous)
        return Sealer(rootKey: try await RootKey.open(store, with: keys, renewing: renewing))
    }

    @Test func staysTheSameAtTheNextStart() async throws {
        let sealed = try await open(current: Self.old).seal([1, 2, 3], at: Self.place)
        #expect(try await open(current: Self.old).open(sealed, at: Self.place) == [1, 2, 3])
    }

    @Test func replicasThatStartTogetherAgree() async throws {
        store.makeReadersMeet(2)
        async let one = open(current: Self.old)
        async let other = open(current: Self.old)
        let sealed = try await one.seal([1], at: Self.place)
        #expect(try await other.open(sealed, at: Self.place) == [1])
    }

    @Test func aPreviousMasterKeyOpensAndTheCurrentOneTakesOver() async throws {
        let sealed = try await open(current: Self.old).seal([1], at: Self.place)
        let taker = try await open(current: Self.new, previous: [Self.third, Self.old])
        #expect(try taker.open(sealed, at: Self.place) == [1])
        #expect(try await open(current: Self.new).open(sealed, at: Self.place) == [1])
        await #expect(throws: TokensError.unreadableRootKey) { try await open(current: Self.old) }
    }

    @Test func aCommandWithTheFormerConfigurationTakesNothingBack() async throws {
        _ = try await open(current: Self.old)
        _ = try await open(current: Self.new, previous: [Self.old])
        let wrapped = store.wrapped
        _ = try await open(current: Self.old, previous: [Self.new], renewing: false)
        #expect(store.wrapped == wrapped)
    }

    @Test func theCurrentMasterKeyRewritesNothing() async throws {
        _ = try await open(current: Self.old)
        let wrapped = store.wrapped
        _ = try await open(current: Self.old, previous: [Self.new])
        #expect(store.wrapped == wrapped)
    }

    @Test func anUnknownMasterKeyIsRefusedAndNothingChanges() async throws {
        _ = try await open(current: Self.old)
        let wrapped = store.wrapped
        await #expect(throws: TokensError.unreadableRootKey) {
            try await open(current: Self.new, previous: [Self.third])
        }
        #expect(store.wrapped == wrapped)
    }

    @Test(arguments: [
        "", "AAAA", "not base64!", Data(count: 31).base64EncodedString(), Data(count: 33).base64EncodedString(),
        Data(count: 64).base64EncodedString(),
    ])
    func refusesMalformedMasterKeys(text: String) {
        #expect(throws: TokensError.malformedMasterKey(setting: "secrets.masterKey")) {
            try MasterKeys(current: text)
        }
        #expect(throws: TokensError.malformedMasterKey(setting: "secrets.previousMasterKeys[1]")) {
            try MasterKeys(current: Self.old, previous: [Self.old, text])
        }
    }

    /// A key that is read from a file may end with a line break.
    @Test func ignoresWhiteSpaceAroundAMasterKey() throws {
        #expect(throws: Never.self) { try MasterKeys(current: " \(Self.old)\n") }
    }
}
