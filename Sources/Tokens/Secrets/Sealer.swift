package import Accounts
import Crypto

/// Encrypts values with a key derived from the root key, bound to the table, column and row that contain them.
package struct Sealer: Sealing {
    private let key: KeyedSeal
    private let marks: SymmetricKey

    package init(rootKey: RootKey) {
        key = rootKey.seal(for: .sealing)
        marks = rootKey.key(for: .marks)
    }

    package func seal(_ plaintext: [UInt8], at place: SealingPlace) throws -> [UInt8] {
        try key.seal(plaintext, authenticating: Self.encode(place))
    }

    package func open(_ sealed: [UInt8], at place: SealingPlace) throws -> [UInt8] {
        try key.open(sealed, authenticating: Self.encode(place))
    }

    package func mark(of text: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: marks))
    }

    private static func encode(_ place: SealingPlace) -> [UInt8] {
        Framing.encode([String(place.application.rawValue), place.table, place.column, place.row])
    }
}
