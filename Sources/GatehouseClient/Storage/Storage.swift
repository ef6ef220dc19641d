public import Foundation

extension GatehouseClient {
    /// Stores a session: its refresh token, its account and its identity.
    ///
    /// An app may implement its own. The calls are synchronous, so memory and storage never hold different sessions.
    public protocol Storage: Sendable {
        /// A name that is equal for all storages of the same place; `nil` if no other storage uses the place.
        var place: String? { get }

        /// Returns the saved data; `nil` if there is none.
        ///
        /// If a session has been saved, `nil` ends it, because another process must have removed it.
        /// - Throws: Any error; the library tries again at the next call.
        func load() throws -> Data?

        /// Replaces the saved data, or leaves it unchanged if that fails.
        /// - Throws: Any error; the library tries again later.
        func save(_ data: Data) throws

        /// Removes the saved data, if there is any.
        /// - Throws: Any error; the library tries again later.
        func remove() throws
    }
}

/// Keeps a session until the process ends.
public final class MemoryStorage: GatehouseClient.Storage {
    private let data = Locked<Data?>(nil)

    /// Creates an empty storage.
    public init() {}

    /// `nil`, because no other storage shares the data.
    public var place: String? { nil }
    /// Returns the saved data.
    public func load() -> Data? { data.withLock { $0 } }
    /// Replaces the saved data.
    public func save(_ data: Data) { self.data.withLock { $0 = data } }
    /// Removes the saved data.
    public func remove() { data.withLock { $0 = nil } }
}

/// The default storage of the platform.
enum PlatformStorage {
    static func `default`(for address: ServerAddress) -> any GatehouseClient.Storage {
        #if canImport(Security)
            KeychainStorage(account: address.base.absoluteString)
        #else
            FileStorage(folder: folder.appending(path: SHA256.hex(of: address.base.absoluteString)))
        #endif
    }

    /// The folder for the sessions of all applications, in the person's home directory.
    private static var folder: URL {
        let homes = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        let home = homes.first ?? URL(filePath: NSHomeDirectory(), directoryHint: .isDirectory)
        return home.appending(path: "gatehouse", directoryHint: .isDirectory)
    }
}
