import Foundation

@testable import GatehouseClient

/// A storage that cannot be read or written for some time.
final class FailingStorage: GatehouseClient.Storage {
    struct Unusable: Error {}

    private let memory = MemoryStorage()
    private let state = Locked((isLocked: false, isFull: false))

    /// Whether it cannot be read, like the Keychain before the device is unlocked.
    var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set { state.withLock { $0.isLocked = newValue } }
    }

    /// Whether it cannot be written, like a full disk.
    var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }

    var place: String? { nil }

    func load() throws -> Data? {
        if isLocked { throw Unusable() }
        return memory.load()
    }

    func save(_ data: Data) throws {
        if isFull { throw Unusable() }
        memory.save(data)
    }

    func remove() { memory.remove() }
}
