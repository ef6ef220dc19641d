import Accounts
import Delivery
import Foundation
import GatehouseTesting
import Logging
import ProviderKit
import ServiceLifecycle
import Testing

@Suite(.timeLimit(.minutes(1)))
struct OutboxWorkerTests {
    private let clock = ManualClock()
    private let time = ManualTime()
    private let logs = LogRecorder()
    private let queue: MemoryOutbox

    init() {
        queue = MemoryOutbox(clock: clock)
    }

    private func worker(_ delivery: CurrentDelivery) throws -> QueueWorker<MessageHandler> {
        QueueWorker(
            MessageHandler(queue: queue, delivery: delivery), logger: logs.logger, time: time, clock: clock,
            random: { 0.5 })
    }

    private func delivery(_ transport: any MessageTransport) throws -> CurrentDelivery {
        CurrentDelivery(
            email: EmailDelivery(from: try Mailbox(Samples.from), transport: transport),
            composer: try MessageComposer())
    }

    /// Runs the worker as its service group would, and shuts it down after the body.
    private func running<Worker: Service>(
        _ worker: Worker, _ body: (_ shutDown: @Sendable () async -> Void) async throws -> Void
    ) async throws {
        let services = ServiceGroup(services: [worker], logger: logs.logger)
        try await withThrowingTaskGroup { group in
            group.addTask { try await services.run() }
            try await body { await services.triggerGracefulShutdown() }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }

    @Test func sendsWhatArrivesAndForgetsIt() async throws {
        let transport = ScriptedTransport()
        let worker = try worker(delivery(transport))
        let message = try Samples.message()
        try await running(worker) { _ in
            queue.add([message])
            await queue.rows.wait { $0.list.allSatisfy(\.isSent) }
        }
        let mail = try #require(transport.attempts.value.first)
        #expect(transport.attempts.value.count == 1)
        #expect(mail.id == message.id)
        #expect(mail.to.value == "ada@mail.example")
        #expect(mail.from.description == Samples.from)
        #expect(mail.application == "demo")
        #expect(mail.content.text.contains("token=abc"))
        #expect(abs(mail.date.timeIntervalSinceNow) < 60)
        #expect(worker.statistics.sent == 1)
        #expect(worker.statistics.inFlight == 0)
    }

    @Test func aMessageForNobodyIsDoneWithAndNotSent() async throws {
        let transport = ScriptedTransport()
        let worker = try worker(delivery(transport))
        let message = try Samples.message().withoutRecipient
        #expect(message.hasNoRecipient && message.to.isEmpty)
        let copy = try JSONDecoder().decode(Message.self, from: JSONEncoder().encode(message))
        #expect(copy == message)
        try await running(worker) { _ in
            queue.add([copy, try Samples.message()])
            await queue.rows.wait { $0.list.allSatisfy(\.isSent) }
        }
        #expect(transport.attempts.value.map(\.to.value) == ["ada@mail.example"])
        #expect(worker.statistics.sent == 1 && worker.statistics.failed == 0 && worker.statistics.givenUp == 0)
        #expect(worker.statistics.inFlight == 0)
    }

    @Test func findsUnannouncedMessagesAtTheNextTick() async throws {
        let worker = try worker(delivery(ScriptedTransport()))
        try await running(worker) { _ in
            await queue.rows.wait { $0.takes.count == 1 }
            queue.add([try Samples.message()], isAnnounced: false)
            await clock.waitForSleepers(of: .seconds(1))
            clock.advance(by: .seconds(1))
            await queue.rows.wait { $0.list.allSatisfy(\.isSent) }
        }
    }

    @Test func wakesUpWhenMessagesArrive() async throws {
        try await running(worker(delivery(ScriptedTransport()))) { _ in
            await queue.rows.wait { $0.takes.count == 1 }
            queue.add([try Samples.message()])
            await queue.rows.wait { $0.list.allSatisfy(\.isSent) }
        }
        #expect(clock.now.offset == .zero)
    }

    @Test func asksOnlyForWhatItHasPlacesFor() async throws {
        let gate = Observed(false)
        let transport = ScriptedTransport { _ in await gate.wait { $0 } }
        try await running(worker(delivery(transport))) { _ in
            queue.add(try (1...3).map { try Samples.message(to: "a\($0)@mail.example") })
            await transport.attempts.wait { $0.count == 3 }
            let before = queue.rows.value.takes.count
            await clock.waitForSleepers(of: .seconds(1))
            clock.advance(by: .seconds(1))
            await queue.rows.wait { $0.takes.count > before }
            #expect(queue.rows.value.takes.last == 5)
            gate.update { $0 = true }
        }
    }

    @Test func aHangingMessageDelaysNoOther() async throws {
        let slow = try Samples.message(to: "slow@mail.example")
        let others = try (1...50).map { try Samples.message(to: "a\($0)@mail.example") }
        let worker = try worker(
            delivery(ScriptedTransport { if $0.id == slow.id { try await ScriptedTransport.hang() } }))
        try await running(worker) { shutDown in
            queue.add([slow] + others)
            await queue.rows.wait { $0.list.filter(\.isSent).count == 50 }
            await clock.waitForSleepers(of: .seconds(60))
            clock.advance(by: .seconds(60))
            await queue.rows.wait { $0.list.contains { !$0.reasons.isEmpty } }
        }
        #expect(queue.row(slow.id)?.reasons == ["unreachable-timeout"])
    }

    @Test func neverHasMoreOnTheWayThanItMay() async throws {
        let gate = Observed(false)
        let transport = ScriptedTransport { _ in await gate.wait { $0 } }
        let worker = try worker(delivery(transport))
        try await running(worker) { _ in
            queue.add(try (1...30).map { try Samples.message(to: "a\($0)@mail.example") })
            await transport.attempts.wait { $0.count == 8 }
            #expect(worker.statistics.inFlight == 8)
            let untaken = queue.rows.value.list.filter { $0.dueAt == .zero }.count
            #expect(untaken == 22)
            gate.update { $0 = true }
            await queue.rows.wait { $0.list.allSatisfy(\.isSent) }
        }
        #expect(worker.statistics.sent == 30)
    }

    @Test func aTransientFailureIsTriedAgainLaterAndLater() async throws {
        let failures = Observed(3)
        let transport = ScriptedTransport { _ in
            let isFailing = failures.update { count in
                count -= 1
                return count >= 0
            }
            if isFailing { throw DeliveryError.deferred(code: 451) }
        }
        let worker = try worker(delivery(transport))
        let message = try Samples.message()
        try await running(worker) { _ in
            queue.add([message])
            for (attempt, delay) in [(1, 15), (2, 30), (3, 60)] {
                await queue.rows.wait { $0.list[0].attempts == attempt }
                #expect(queue.row(message.id)?.delays.last == .seconds(delay))
                #expect(transport.attempts.value.count == attempt)
                await clock.waitForSleepers(of: .seconds(1))
                clock.advance(by: .seconds(delay))
            }
            await queue.rows.wait { $0.list[0].isSent }
        }
        let ids = Set(transport.attempts.value.map { $0.id })
        #expect(ids == [message.id])
        #expect(worker.statistics.failed == 3)
        #expect(worker.statistics.sent == 1)
    }

    @Test func aRefusalForGoodIsGivenUpAtOnceAndVisibly() async throws {
        let worker = try worker(delivery(ScriptedTransport { _ in throw DeliveryError.refused(code: 550) }))
        let message = try Samples.message()
        try await running(worker) { _ in
            queue.add([message])
            await queue.rows.wait { $0.list[0].isGivenUp }
        }
        #expect(queue.row(message.id)?.reasons == ["smtp-550"])
        #expect(worker.statistics.givenUp == 1)
        let errors = logs.lines.filter { $0.level == .error }
        #expect(errors.count == 1)
        #expect(errors.first?.text.contains(message.id.text) == true)
        #expect(!logs.lines.contains { $0.text.contains("ada@") || $0.text.contains("mail.example") })
        #expect(!logs.lines.contains { $0.text.contains("token") })
    }

    @Test func aMessageOfYesterdayIsGivenUpAtItsNextFailure() async throws {
        let worker = try worker(delivery(ScriptedTransport { _ in throw OutboxFailure() }))
        let message = try Samples.message()
        time.advance(by: 86_400)
        try await running(worker) { _ in
            queue.add([message])
            await queue.rows.wait { $0.list[0].isGivenUp }
        }
        #expect(queue.row(message.id)?.delays == [nil])
    }

    @Test func aLinkThatNoLongerWorksIsNotSent() async throws {
        let transport = ScriptedTransport()
        let dead = try Samples.message(until: Date().addingTimeInterval(-1))
        let told = try Samples.message(.accountDeleted, link: nil, until: Date().addingTimeInterval(-1))
        try await running(worker(delivery(transport))) { _ in
            queue.add([dead, told])
            await queue.rows.wait { $0.list[0].isGivenUp && $0.list[1].isSent }
        }
        #expect(queue.row(dead.id)?.reasons == ["expired"])
        #expect(transport.attempts.value.map(\.id) == [told.id])
    }

    @Test func withoutConfigurationMessagesWaitAndLeaveOnceThereIsOne() async throws {
        let delivery = CurrentDelivery(email: nil, composer: try MessageComposer())
        let messages = try (1...3).map { try Samples.message(to: "a\($0)@mail.example") }
        let transport = ScriptedTransport()
        time.advance(by: 100_000)
        try await running(worker(delivery)) { _ in
            queue.add(messages)
            await queue.rows.wait { $0.list.allSatisfy { $0.attempts == 1 } }
            let rows = queue.rows.value.list
            #expect(rows.allSatisfy { $0.reasons == ["not-configured"] && !$0.isGivenUp })
            delivery.replace(
                email: EmailDelivery(from: try Mailbox(Samples.from), transport: transport), sms: nil,
                composer: try MessageComposer())
            await clock.waitForSleepers(of: .seconds(1))
            clock.advance(by: .seconds(15))
            await queue.rows.wait { $0.list.allSatisfy(\.isSent) }
        }
        #expect(transport.attempts.value.count == 3)
        #expect(logs.lines.filter { $0.level == .error }.count == 1)
    }

    @Test func outlivesAnOutboxThatDoesNotAnswer() async throws {
        queue.rows.update { $0.failTakes = true }
        try await running(worker(delivery(ScriptedTransport()))) { _ in
            queue.add([try Samples.message()])
            await queue.rows.wait { $0.takes.count >= 1 }
            for round in 2...4 {
                await clock.waitForSleepers(of: .seconds(1))
                clock.advance(by: .seconds(1))
                await queue.rows.wait { $0.takes.count >= round }
            }
            queue.rows.update { $0.failTakes = false }
            await clock.waitForSleepers(of: .seconds(1))
            clock.advance(by: .seconds(1))
            await queue.rows.wait { $0.list[0].isSent }
        }
        #expect(logs.lines.filter { $0.level == .error }.count == 1)
    }

    @Test func aMarkThatFailsIsWrittenAgainAndTheMessageSentOnce() async throws {
        let transport = ScriptedTransport()
        let message = try Samples.message()
        queue.rows.update { $0.failingMarks = [message.id: 1] }
        try await running(worker(delivery(transport))) { _ in
            queue.add([message])
            await queue.rows.wait { $0.failedMarks == 1 }
            // One sleeper is the tick, the other waits to repeat the failed mark.
            await clock.waitForSleepers(of: .seconds(1), count: 2)
            clock.advance(by: .seconds(1))
            await queue.rows.wait { $0.list[0].isSent }
        }
        #expect(transport.attempts.value.count == 1)
    }
}
