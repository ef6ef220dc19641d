import Synchronization
import Testing

@testable import GatehouseServer

/// Limits how often `/health/ready` checks the database.
struct DatabaseHealthTests {
    private final class Script: Sendable {
        private let state = Mutex((now: ContinuousClock.now, checks: 0, isReady: true))
        let gate = AsyncStream.makeStream(of: Void.self)

        var checks: Int { state.withLock { $0.checks } }
        func advance(_ time: Duration) { state.withLock { $0.now += time } }
        func answer(_ isReady: Bool) { state.withLock { $0.isReady = isReady } }

        /// Returns the object under test; if `isGated` is true, each of its checks waits until the test opens the gate.
        func health(isGated: Bool = false) -> DatabaseHealth {
            DatabaseHealth(now: { self.state.withLock { $0.now } }) {
                self.state.withLock { $0.checks += 1 }
                if isGated { for await _ in self.gate.stream { break } }
                return self.state.withLock { !Task.isCancelled && $0.isReady }
            }
        }
    }

    @Test func `any number of requests cause one check per second`() async throws {
        let script = Script()
        let health = script.health()
        for second in 1...3 {
            let answers = try await atOnce(200) { await health.isReady() }
            #expect(answers.allSatisfy { $0 } && script.checks == second)
            script.advance(.milliseconds(999))
            script.answer(false)
            #expect(await health.isReady() && script.checks == second)
            script.answer(true)
            script.advance(.milliseconds(1))
        }
        script.answer(false)
        #expect(await !health.isReady() && script.checks == 4)
    }

    @Test func `a client that disconnects does not cancel the check for others`() async throws {
        let script = Script()
        let health = script.health(isGated: true)
        let first = Task { await health.isReady() }
        try await eventually("the check runs") { script.checks == 1 }
        first.cancel()
        async let others = atOnce(20) { await health.isReady() }
        script.gate.continuation.yield()
        #expect(try await others.allSatisfy { $0 })
        #expect(script.checks == 1)
    }
}
