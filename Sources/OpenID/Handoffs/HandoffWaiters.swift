package import Accounts
package import Foundation
internal import Synchronization

/// The pages of this replica that wait until another device answers.
///
/// A page that waits holds no connection to the database. A change of a sign-in notifies all replicas, which wake
/// the pages that wait for it.
package final class HandoffWaiters: Sendable {
    private struct Key: Hashable {
        let application: Application.ID
        let id: UUID
    }

    private struct State {
        var waits: [Key: [HandoffWait]] = [:]
        var count = 0
        var isClosed = false
    }

    private let capacity, share: Int
    private let state = Mutex(State())

    /// At most `capacity` pages wait at once, and at most `share` of them for the same sign-in.
    ///
    /// A person has one page open, or a few tabs of it; without `share`, a single browser could take all places.
    package init(capacity: Int = 10_000, share: Int = 8) { (self.capacity, self.share) = (capacity, share) }

    package var count: Int { state.withLock(\.count) }

    /// Begins a wait; changes from now on end it, also before `HandoffWait.value` is called.
    /// - Returns: `nil` if too many pages wait, in total or for this sign-in, or the server shuts down.
    package func begin(_ id: UUID, application: Application.ID) -> HandoffWait? {
        let key = Key(application: application, id: id)
        return state.withLock { state in
            guard !state.isClosed, state.count < capacity, state.waits[key, default: []].count < share else {
                return nil
            }
            let wait = HandoffWait()
            state.count += 1
            state.waits[key, default: []].append(wait)
            return wait
        }
    }

    package func end(_ wait: HandoffWait, for id: UUID, application: Application.ID) {
        let key = Key(application: application, id: id)
        state.withLock { state in
            guard let index = state.waits[key]?.firstIndex(where: { $0 === wait }) else { return }
            state.count -= 1
            state.waits[key]?.remove(at: index)
            if state.waits[key]?.isEmpty == true { state.waits[key] = nil }
        }
    }

    /// Wakes the pages that wait for a sign-in.
    package func wake(_ id: UUID, application: Application.ID) {
        let woken = state.withLock { $0.waits[Key(application: application, id: id)] ?? [] }
        for wait in woken { wait.wake() }
    }

    /// Wakes all pages, because changes may have been missed.
    package func wakeAll() {
        let woken = state.withLock { $0.waits.values.flatMap { $0 } }
        for wait in woken { wait.wake() }
    }

    /// Wakes all pages, and lets no further one wait, so that a server that shuts down need not wait for them.
    package func close() {
        state.withLock { $0.isClosed = true }
        wakeAll()
    }
}

/// One page that waits.
package final class HandoffWait: Sendable {
    private struct State {
        var isWoken = false
        var continuation: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    var isWoken: Bool { state.withLock(\.isWoken) }

    @Sendable func wake() {
        state.withLock { $0.isWoken = true }
        resume()
    }

    private func resume() {
        let continuation = state.withLock { state in
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume()
    }

    /// Waits until a change, or for the time.
    func value(upTo limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await Task.sleep(for: limit) }
            group.addTask { await self.arrival() }
            await group.next()
            group.cancelAll()
        }
    }

    private func arrival() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard !state.isWoken, !Task.isCancelled else { return true }
                    state.continuation = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            resume()
        }
    }
}
