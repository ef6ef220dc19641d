/// Stores the root key, from which all other keys are derived, wrapped with a master key outside the database.
package protocol RootKeyStore: Sendable {
    /// Returns the wrapped key; `nil` before the first start of any replica.
    func wrappedRootKey() async throws -> [UInt8]?

    /// Stores the key if none is stored.
    /// - Returns: the stored key, which another replica may have inserted.
    func insertWrappedRootKey(_ wrapped: [UInt8]) async throws -> [UInt8]

    /// Replaces the wrapped key, unless the stored key is no longer `old` because another replica replaced it.
    func replaceWrappedRootKey(_ old: [UInt8], with new: [UInt8]) async throws
}
