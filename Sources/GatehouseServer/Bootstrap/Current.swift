internal import Synchronization

/// A value that a reload or a background service replaces while the server runs.
final class Current<Value: Sendable>: Sendable {
    private let stored: Mutex<Value>

    init(_ value: Value) { stored = Mutex(value) }

    var value: Value { stored.withLock { $0 } }

    func replace(with value: Value) { stored.withLock { $0 = value } }
    func update(_ change: (inout Value) -> Void) { stored.withLock { change(&$0) } }
}
