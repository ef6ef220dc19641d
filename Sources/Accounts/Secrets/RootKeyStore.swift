/// The one key in the database that the others are derived from, wrapped under a master key that is not in it.
package protocol RootKeyStore: Sendable {
    /// `nil` until some replica has started for the first time.
    func wrappedRootKey() async throws -> [UInt8]?

    /// Stores the key where there is none.
    /// - Returns: the key that stands now; another replica's, if that one was faster.
    func insertWrappedRootKey(_ wrapped: [UInt8]) async throws -> [UInt8]

    /// Changes nothing when `old` is no longer what is stored: another replica has wrapped the same key anew.
    func replaceWrappedRootKey(_ old: [UInt8], with new: [UInt8]) async throws
}
