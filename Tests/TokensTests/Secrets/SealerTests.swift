import Accounts
import Foundation
import Testing

@testable import Tokens

struct SealerTests {
    private static let place = SealingPlace(application: 1, table: "identities", column: "tokens", row: "7")

    private let sealer: Sealer

    init() async throws {
        sealer = try await Installation().sealer
    }

    @Test(arguments: [[], [0], Array("a provider's token".utf8), Array(repeating: 9, count: 100_000)])
    func opensWhatItSealed(plaintext: [UInt8]) throws {
        #expect(try sealer.open(sealer.seal(plaintext, at: Self.place), at: Self.place) == plaintext)
    }

    @Test func neverSealsTheSameTwice() throws {
        #expect(try sealer.seal([1], at: Self.place) != sealer.seal([1], at: Self.place))
    }

    /// In the last three places, the same characters are divided differently between the fields.
    @Test(arguments: [
        SealingPlace(application: 2, table: "identities", column: "tokens", row: "7"),
        SealingPlace(application: 1, table: "proofs", column: "tokens", row: "7"),
        SealingPlace(application: 1, table: "identities", column: "secret", row: "7"),
        SealingPlace(application: 1, table: "identities", column: "tokens", row: "8"),
        SealingPlace(application: 1, table: "identitiestokens", column: "", row: "7"),
        SealingPlace(application: 1, table: "identities", column: "token", row: "s7"),
        SealingPlace(application: 1, table: "identities|tokens", column: "7", row: ""),
    ])
    func opensNowhereElse(place: SealingPlace) throws {
        let sealed = try sealer.seal([1, 2, 3], at: Self.place)
        #expect(throws: AccountsError.unreadableSecret) { try sealer.open(sealed, at: place) }
    }

    @Test func noChangedByteIsAccepted() throws {
        let sealed = try sealer.seal([1, 2, 3], at: Self.place)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: AccountsError.unreadableSecret) { try sealer.open(changed, at: Self.place) }
        }
    }

    @Test func noPartOrExtensionIsAccepted() throws {
        let sealed = try sealer.seal([1, 2, 3], at: Self.place)
        for changed in (0..<sealed.count).map({ Array(sealed.prefix($0)) }) + [sealed + [0]] {
            #expect(throws: AccountsError.unreadableSecret) { try sealer.open(changed, at: Self.place) }
        }
    }

    @Test func anotherInstallationOpensNothing() async throws {
        let sealed = try sealer.seal([1], at: Self.place)
        let other = try await Installation().sealer
        #expect(throws: AccountsError.unreadableSecret) { try other.open(sealed, at: Self.place) }
    }
}
