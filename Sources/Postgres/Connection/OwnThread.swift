import Glibc

/// A thread for work that blocks, which must not run in the cooperative thread pool.
struct OwnThread: Sendable {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private let id: pthread_t

    /// Starts the thread; nil if the system can't create one.
    init?(_ run: @escaping @Sendable () -> Void) {
        var id = pthread_t()
        let body = Unmanaged.passRetained(Body(run))
        let status = pthread_create(
            &id, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        guard status == 0 else {
            body.release()
            return nil
        }
        self.id = id
    }

    func join() { pthread_join(id, nil) }

    /// Runs `body` on a thread that is never joined; returns false if the system can't create one.
    static func detached(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard let thread = OwnThread(body) else { return false }
        pthread_detach(thread.id)
        return true
    }
}
