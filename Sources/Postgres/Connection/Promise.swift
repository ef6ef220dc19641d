import Synchronization

/// A result that is settled exactly once: by the answer, the deadline or the caller's cancellation.
final class Promise<Value: Sendable>: Sendable {
    private typealias Outcome = Result<Value, PostgresError>

    private enum State {
        case unasked
        case awaited(UnsafeContinuation<Outcome, Never>)
        case settledEarly(Outcome)
        case settled
    }

    private let state = Mutex(State.unasked)

    var isSettled: Bool {
        state.withLock { state in
            switch state {
            case .unasked, .awaited: false
            case .settledEarly, .settled: true
            }
        }
    }

    /// Settles the promise; returns false if it was settled before.
    ///
    /// `notify` runs between this and the next step of the waiter.
    @discardableResult
    func settle(_ outcome: Result<Value, PostgresError>, notify: () -> Void = {}) -> Bool {
        let (isFirst, waiter) = state.withLock { state -> (Bool, UnsafeContinuation<Outcome, Never>?) in
            switch state {
            case .unasked:
                state = .settledEarly(outcome)
                return (true, nil)
            case .awaited(let waiter):
                state = .settled
                return (true, waiter)
            case .settledEarly, .settled: return (false, nil)
            }
        }
        notify()
        // Outside the lock, because resuming may run the waiter's next step.
        waiter?.resume(returning: outcome)
        return isFirst
    }

    @discardableResult
    func fail(_ error: PostgresError) -> Bool {
        settle(.failure(error))
    }

    /// Waits for the outcome, even if the calling task is cancelled; call this at most once.
    func shieldedValue() async throws(PostgresError) -> Value {
        let outcome = await withUnsafeContinuation { (waiter: UnsafeContinuation<Outcome, Never>) in
            let early = state.withLock { state -> Outcome? in
                switch state {
                case .settledEarly(let outcome):
                    state = .settled
                    return outcome
                case .unasked:
                    state = .awaited(waiter)
                    return nil
                case .awaited, .settled: preconditionFailure("a promise is awaited once")
                }
            }
            if let early { waiter.resume(returning: early) }
        }
        return try outcome.get()
    }

    /// Waits for the outcome; if the task is cancelled, throws `.cancelled` at once.
    ///
    /// Call this at most once. On cancellation, `notify` runs before the waiter resumes, so that its message precedes
    /// the waiter's next request.
    func value(onCancel notify: @escaping @Sendable () -> Void = {}) async throws(PostgresError) -> Value {
        let outcome: Outcome = await withTaskCancellationHandler {
            do throws(PostgresError) { return .success(try await shieldedValue()) } catch { return .failure(error) }
        } onCancel: {
            // Settled first, because the server's answer to a cancelled statement is another error.
            settle(.failure(.cancelled), notify: notify)
        }
        return try outcome.get()
    }
}
