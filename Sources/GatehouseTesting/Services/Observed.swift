internal import Foundation
internal import Synchronization

/// A value whose changes can be awaited, so that tests need not sleep.
package final class Observed<Value: Sendable>: Sendable {
    private struct Waiter {
        let id: UUID
        let condition: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var value: Value
        var waiters: [Waiter] = []
    }

    private let state: Mutex<State>

    package init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    package var value: Value { state.withLock { $0.value } }

    @discardableResult
    package func update<Output: Sendable>(_ change: @Sendable (inout Value) -> Output) -> Output {
        let (result, ready) = state.withLock { state in
            let result = change(&state.value)
            let ready = state.waiters.filter { $0.condition(state.value) }
            state.waiters.removeAll { $0.condition(state.value) }
            return (result, ready)
        }
        for waiter in ready {
            waiter.continuation.resume()
        }
        return result
    }

    /// Returns when the condition holds for the value, or when the task is cancelled, such as by a suite's time limit.
    package func wait(until condition: @escaping @Sendable (Value) -> Bool) async {
        let id = UUID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard !Task.isCancelled, !condition(state.value) else { return true }
                    state.waiters.append(Waiter(id: id, condition: condition, continuation: continuation))
                    return false
                }
                if isOver {
                    continuation.resume()
                }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                let waiter = state.waiters.first { $0.id == id }
                state.waiters.removeAll { $0.id == id }
                return waiter
            }
            waiter?.continuation.resume()
        }
    }
}
