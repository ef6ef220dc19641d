package import Accounts

/// Seals values under a key derived from the root key, bound to the place where they stand.
package struct Sealer: Sealing {
    private let key: KeyedSeal

    package init(rootKey: RootKey) {
        key = rootKey.seal(for: .sealing)
    }

    package func seal(_ plaintext: [UInt8], at place: SealingPlace) throws -> [UInt8] {
        try key.seal(plaintext, authenticating: Self.encode(place))
    }

    package func open(_ sealed: [UInt8], at place: SealingPlace) throws -> [UInt8] {
        try key.open(sealed, authenticating: Self.encode(place))
    }

    private static func encode(_ place: SealingPlace) -> [UInt8] {
        Framing.encode([String(place.application), place.table, place.column, place.row])
    }
}
