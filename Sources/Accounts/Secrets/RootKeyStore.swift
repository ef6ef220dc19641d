/// Stores the key that all others are derived from, wrapped with a master key that is not in the database.
package protocol RootKeyStore: Sendable {
    /// `nil` before a replica has started for the first time.
    func wrappedRootKey() async throws -> [UInt8]?

    /// Stores the key if there is none.
    /// - Returns: the stored key, which may be that of another replica.
    func insertWrappedRootKey(_ wrapped: [UInt8]) async throws -> [UInt8]

    /// Changes nothing when another replica has replaced `old` before.
    func replaceWrappedRootKey(_ old: [UInt8], with new: [UInt8]) async throws
}
