import Accounts
import Delivery
import Foundation
import GatehouseTesting
import Logging
import ProviderKit
import ServiceLifecycle
import Testing

/// Tests how a worker stops, gracefully or not, and what its successor then sends.
@Suite(.timeLimit(.minutes(1)))
struct OutboxWorkerEndTests {
    private let clock = ManualClock()
    private let logs = LogRecorder()
    private let queue: MemoryOutbox

    init() {
        queue = MemoryOutbox(clock: clock)
    }

    private func worker(_ transport: any MessageTransport) throws -> QueueWorker<MessageHandler> {
        let delivery = CurrentDelivery(
            email: EmailDelivery(from: try Mailbox(Samples.from), transport: transport),
            composer: try MessageComposer())
        return QueueWorker(
            MessageHandler(queue: queue, delivery: delivery), logger: logs.logger, clock: clock, random: { 0.5 })
    }

    private func messages(_ count: Int) throws -> [Message] {
        try (1...count).map { try Samples.message(to: "a\($0)@mail.example") }
    }

    @Test func shutdownFinishesWhatIsOnItsWayAndTakesNoMore() async throws {
        let gate = Observed(false)
        let transport = ScriptedTransport { _ in await gate.wait { $0 } }
        let services = ServiceGroup(services: [try worker(transport)], logger: logs.logger)
        queue.add(try messages(8))
        async let end: Void = services.run()
        await transport.attempts.wait { $0.count == 8 }
        await services.triggerGracefulShutdown()
        // Only the wait for the end of the grace period sleeps for 25 seconds.
        await clock.waitForSleepers(of: .seconds(25))
        queue.add(try messages(5))
        gate.update { $0 = true }
        try await end
        let rows = queue.rows.value.list
        #expect(rows.prefix(8).allSatisfy { $0.isSent })
        #expect(rows.dropFirst(8).allSatisfy { $0.dueAt == .zero && !$0.isSent })
        #expect(transport.attempts.value.count == 8)
    }

    @Test func aWakeUpBeforeTheShutdownTakesNothingAfterIt() async throws {
        let transport = ScriptedTransport()
        let services = ServiceGroup(services: [try worker(transport)], logger: logs.logger)
        queue.answers.update { $0 = false }
        async let end: Void = services.run()
        await queue.rows.wait { $0.takes.count == 1 }
        queue.add(try messages(3))
        await clock.waitForSleepers(of: .seconds(1))
        clock.advance(by: .seconds(1))
        // The tick has sent a wake-up and sleeps again.
        await clock.waitForSleepers(of: .seconds(1))
        await services.triggerGracefulShutdown()
        await clock.waitForSleepers(of: .seconds(25))
        queue.answers.update { $0 = true }
        try await end
        #expect(queue.rows.value.takes.count == 1)
        #expect(transport.attempts.value.isEmpty)
    }

    /// `error` is what the transport throws when its task is cancelled.
    @Test(arguments: [CancellationError(), DeliveryError.unreachable(.connection)] as [any Error])
    func shutdownLeavesAHangingMessageAfterItsGrace(throwing error: any Error) async throws {
        let transport = ScriptedTransport { _ in
            do { try await ScriptedTransport.hang() } catch is CancellationError { throw error }
        }
        let services = ServiceGroup(services: [try worker(transport)], logger: logs.logger)
        queue.add(try messages(1))
        async let end: Void = services.run()
        await transport.attempts.wait { $0.count == 1 }
        await services.triggerGracefulShutdown()
        await clock.waitForSleepers(of: .seconds(25))
        clock.advance(by: .seconds(25))
        try await end
        let row = queue.rows.value.list[0]
        #expect(!row.isSent && !row.isGivenUp && row.reasons.isEmpty)
        #expect(row.dueAt == .seconds(120))
        #expect(logs.lines.contains { $0.level == .warning && $0.text.contains("in doubt") })
    }

    @Test func anIdleWorkerEndsAtOnce() async throws {
        let services = ServiceGroup(services: [try worker(ScriptedTransport())], logger: logs.logger)
        async let end: Void = services.run()
        await queue.rows.wait { $0.takes.count == 1 }
        await services.triggerGracefulShutdown()
        try await end
    }

    /// The first worker dies after the relay accepted the second mail and before the outbox marked that mail as sent.
    @Test func aWorkerThatDiesLeavesOnlyWhatItHadNotMarked() async throws {
        let all = try messages(4)
        let doubtful = all[1].id
        let transport = ScriptedTransport()
        let first = try worker(transport)
        queue.rows.update { $0.failingMarks = [doubtful: .max] }
        queue.add(all)
        let life = Task { try await first.run() }
        await queue.rows.wait { $0.failedMarks > 0 && $0.list.filter(\.isSent).count == 3 }
        life.cancel()
        try await life.value
        #expect(transport.attempts.value.count == 4)
        queue.rows.update { $0.failingMarks = [:] }

        let second = ScriptedTransport()
        let services = ServiceGroup(services: [try worker(second)], logger: logs.logger)
        async let end: Void = services.run()
        await clock.waitForSleepers(of: .seconds(1))
        #expect(second.attempts.value.isEmpty)
        clock.advance(by: .seconds(120))
        await queue.rows.wait { $0.list.allSatisfy(\.isSent) }
        await services.triggerGracefulShutdown()
        try await end
        #expect(second.attempts.value.map(\.id) == [doubtful])
    }
}
