public import Foundation

extension GatehouseClient {
    /// Where a session is stored: its refresh token, its account and its identity.
    ///
    /// An app may have its own. The calls are synchronous, so that the memory and the storage never hold different sessions.
    public protocol Storage: Sendable {
        /// A name that is equal for all values that store in the same place; `nil` if no other value does.
        var place: String? { get }

        /// Returns what was saved last; `nil` if there is nothing.
        /// - Throws: Any error; the library reads again at the next call.
        func load() throws -> Data?

        /// Replaces what was saved, or leaves it unchanged if that fails.
        /// - Throws: Any error; the library saves again later.
        func save(_ data: Data) throws

        /// Removes what was saved, if there is something.
        /// - Throws: Any error; the library removes it again later.
        func remove() throws
    }
}

/// Keeps a session until the process ends.
public final class MemoryStorage: GatehouseClient.Storage {
    private let data = Locked<Data?>(nil)

    /// Creates an empty storage.
    public init() {}

    /// The storage is shared by nothing else.
    public var place: String? { nil }
    /// Returns what was saved last.
    public func load() -> Data? { data.withLock { $0 } }
    /// Replaces what was saved.
    public func save(_ data: Data) { self.data.withLock { $0 = data } }
    /// Removes what was saved.
    public func remove() { data.withLock { $0 = nil } }
}

/// The storage that a platform offers.
enum PlatformStorage {
    static func `default`(for address: ServerAddress) -> any GatehouseClient.Storage {
        #if canImport(Security)
            KeychainStorage(account: address.base.absoluteString)
        #else
            FileStorage(folder: folder.appending(path: SHA256.hex(of: address.base.absoluteString)))
        #endif
    }

    /// The folder of the sessions of all applications, in the person's home.
    private static var folder: URL {
        let homes = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        let home = homes.first ?? URL(filePath: NSHomeDirectory(), directoryHint: .isDirectory)
        return home.appending(path: "gatehouse", directoryHint: .isDirectory)
    }
}
