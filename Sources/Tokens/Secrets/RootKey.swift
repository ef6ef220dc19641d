package import Accounts
import Crypto

/// The random key that all keys of an installation are derived from, one for each purpose.
///
/// Its only copy stands in the database, wrapped under the master key.
package struct RootKey: Sendable {
    private let key: SymmetricKey

    private init(_ bytes: [UInt8]) {
        key = SymmetricKey(data: bytes)
    }

    /// Draws the key at the very first start; replicas that start together end with the same one.
    ///
    /// A key that a previous master key wrapped is wrapped under the current one.
    /// - Throws: `TokensError.unreadableRootKey` when no master key opens it.
    package static func open(_ store: any RootKeyStore, with masterKeys: MasterKeys) async throws -> RootKey {
        let stored = try await store.wrappedRootKey()
        let wrapped =
            if let stored { stored } else { try await store.insertWrappedRootKey(masterKeys.wrap(draw())) }
        let (bytes, isOutdated) = try masterKeys.unwrap(wrapped)
        if isOutdated {
            try await store.replaceWrappedRootKey(wrapped, with: masterKeys.wrap(bytes))
        }
        return RootKey(bytes)
    }

    private static func draw() -> [UInt8] {
        SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
    }

    func key(for purpose: Purpose) -> SymmetricKey {
        key.derived(for: purpose.rawValue)
    }

    func seal(for purpose: Purpose) -> KeyedSeal {
        KeyedSeal(secret: key, label: purpose.rawValue)
    }

    /// What a key is derived for.
    ///
    /// A raw value never changes: what was made under it would be lost.
    enum Purpose: String {
        case refreshSuccession = "refresh succession"
        case pseudonyms
        case audit
        case sealing
        case marks
    }
}
