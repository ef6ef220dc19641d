package import Accounts
import Crypto

/// The random key from which the others are derived; its only copy is in the database, encrypted with the master key.
package struct RootKey: Sendable {
    private let key: SymmetricKey

    private init(_ bytes: [UInt8]) { key = SymmetricKey(data: bytes) }

    /// Reads the key, or generates it at the first start; replicas that start at the same time get the same key.
    ///
    /// With `renewing`, a key that a previous master key encrypts is encrypted again with the current one. Only servers do
    /// that: a command on another machine, which still has the former configuration, would take the change back.
    /// - Throws: `TokensError.unreadableRootKey` if no master key opens it.
    package static func open(
        _ store: any RootKeyStore, with masterKeys: MasterKeys, renewing: Bool = true
    ) async throws -> RootKey {
        let stored = try await store.wrappedRootKey()
        let wrapped = if let stored { stored } else { try await store.insertWrappedRootKey(masterKeys.wrap(draw())) }
        let (bytes, isOutdated) = try masterKeys.unwrap(wrapped)
        if isOutdated, renewing { try await store.replaceWrappedRootKey(wrapped, with: masterKeys.wrap(bytes)) }
        return RootKey(bytes)
    }

    private static func draw() -> [UInt8] { SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) } }
    func key(for purpose: Purpose) -> SymmetricKey { key.derived(for: purpose.rawValue) }
    func seal(for purpose: Purpose) -> KeyedSeal { KeyedSeal(secret: key, label: purpose.rawValue) }

    /// The purposes of derived keys; raw values must never change, because existing data depends on them.
    enum Purpose: String {
        case refreshSuccession = "refresh succession"
        case pseudonyms, audit, sealing, marks
    }
}
