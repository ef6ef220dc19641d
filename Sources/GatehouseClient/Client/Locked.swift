internal import Foundation

/// A value behind a lock, for code that cannot wait for an actor.
///
/// `Mutex` of `Synchronization` requires newer systems than the library supports.
final class Locked<Value: Sendable>: Sendable {
    private let lock = NSLock()
    // The checker cannot see that only `withLock` uses the value.
    nonisolated(unsafe) private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Output>(_ body: (inout Value) throws -> Output) rethrows -> Output {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
