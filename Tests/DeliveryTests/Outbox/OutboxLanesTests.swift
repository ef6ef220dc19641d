import Accounts
import Delivery
import Foundation
import GatehouseTesting
import Logging
import ServiceLifecycle
import ProviderKit
import Testing

/// Tests one outbox that holds both mails and text messages.
@Suite(.timeLimit(.minutes(1)))
struct OutboxLanesTests {
    private let clock = ManualClock()
    private let time = ManualTime()
    private let logs = LogRecorder()
    private let queue: MemoryOutbox

    init() {
        queue = MemoryOutbox(clock: clock)
    }

    private func running(
        mail: any MessageTransport = ScriptedTransport(), text: (any TextTransport)?, budget: TextBudget? = nil,
        _ body: (QueueWorker<MessageHandler>, CurrentDelivery) async throws -> Void
    ) async throws {
        let delivery = CurrentDelivery(
            email: EmailDelivery(from: try Mailbox(Samples.from), transport: mail),
            sms: text.map { SMSDelivery(transport: $0, budget: budget) }, composer: try MessageComposer())
        let worker = QueueWorker(
            MessageHandler(queue: queue, delivery: delivery), logger: logs.logger, time: time, clock: clock,
            random: { 0.5 })
        let services = ServiceGroup(services: [worker], logger: logs.logger)
        try await withThrowingTaskGroup { group in
            group.addTask { try await services.run() }
            try await body(worker, delivery)
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }

    private func texts(_ count: Int) throws -> [Message] {
        try (0..<count).map { Samples.code(to: .phone(try Samples.number("+3361234567\($0 % 10)"))) }
    }

    @Test func aTextMessageGoesToItsNumber() async throws {
        let text = ScriptedTextTransport()
        let mail = ScriptedTransport()
        let message = Samples.code(to: .phone(try Samples.number()), locale: "de")
        try await running(mail: mail, text: text) { _, _ in
            queue.add([message])
            await queue.rows.wait { $0.list.allSatisfy(\.isSent) }
        }
        let sent = try #require(text.attempts.value.first)
        #expect(sent.id == message.id && sent.to.value == "+33612345678" && sent.application == "demo")
        #expect(sent.text == "042137 ist Ihr Code für demo. Geben Sie ihn niemandem weiter.")
        #expect(mail.attempts.value.isEmpty)
    }

    @Test func aGatewayThatStallsDelaysNoMail() async throws {
        let gate = Observed(false)
        let text = ScriptedTextTransport { _ in await gate.wait { $0 } }
        try await running(text: text) { worker, _ in
            queue.add(try texts(20))
            await text.attempts.wait { $0.count == 8 }
            let mails = try (1...20).map { try Samples.message(to: "a\($0)@mail.example") }
            queue.add(mails)
            await queue.rows.wait { $0.list.filter { $0.message.channel == .email }.allSatisfy(\.isSent) }
            #expect(text.attempts.value.count == 8)
            gate.update { $0 = true }
            await queue.rows.wait { $0.list.allSatisfy(\.isSent) }
        }
    }

    @Test func aRelayThatStallsDelaysNoText() async throws {
        let gate = Observed(false)
        let mail = ScriptedTransport { _ in await gate.wait { $0 } }
        try await running(mail: mail, text: ScriptedTextTransport()) { _, _ in
            queue.add(try (1...20).map { try Samples.message(to: "a\($0)@mail.example") })
            await mail.attempts.wait { $0.count == 8 }
            queue.add(try texts(20))
            await queue.rows.wait { $0.list.filter { $0.message.channel == .sms }.allSatisfy(\.isSent) }
            gate.update { $0 = true }
            await queue.rows.wait { $0.list.allSatisfy(\.isSent) }
        }
    }

    @Test func aPoisonedTextDelaysNoOther() async throws {
        let messages = try texts(20)
        let poisoned = messages[3].id
        let text = ScriptedTextTransport { message in
            if message.id == poisoned { throw DeliveryError.gatewayRefused(status: 400) }
        }
        try await running(text: text) { _, _ in
            queue.add(messages)
            await queue.rows.wait { $0.list.allSatisfy { $0.isSent || $0.isGivenUp } }
        }
        #expect(queue.row(poisoned)?.reasons == ["http-400"])
        #expect(queue.rows.value.list.filter(\.isSent).count == 19)
    }

    @Test func beyondTheBudgetAMessageIsGivenUpVisibly() async throws {
        let text = ScriptedTextTransport()
        let budget = TextBudget(total: .init(3, per: .seconds(3600)), perRange: nil)
        try await running(text: text, budget: budget) { worker, _ in
            queue.add(try texts(5))
            await queue.rows.wait { $0.list.allSatisfy { $0.isSent || $0.isGivenUp } }
            #expect(worker.statistics.givenUp == 2)
        }
        #expect(text.attempts.value.count == 3)
        #expect(queue.rows.value.counted == Array(repeating: "+33612", count: 5))
        #expect(queue.rows.value.list.filter(\.isGivenUp).allSatisfy { $0.reasons == ["over-budget"] })
        #expect(logs.lines.filter { $0.level == .error && $0.text.contains("over-budget") }.count == 2)
        #expect(!logs.lines.contains { $0.text.contains("+336") || $0.text.contains("042137") })
    }

    @Test func anybodysCodesLeaveATenthOfTheBudgetToNotices() async throws {
        let text = ScriptedTextTransport()
        let budget = TextBudget(total: .init(10, per: .seconds(3600)), perRange: nil)
        try await running(text: text, budget: budget) { _, _ in
            for messages in [try texts(12), [Message(.accountDeleted, to: .phone(try Samples.number()))]] {
                queue.add(messages)
                await queue.rows.wait { $0.list.allSatisfy { $0.isSent || $0.isGivenUp } }
            }
        }
        #expect(text.attempts.value.count == 10)
        #expect(queue.rows.value.list.last?.isSent == true)
    }

    @Test func aCodeThatNoLongerWorksIsNeitherSentNorCounted() async throws {
        let text = ScriptedTextTransport()
        let dead = Samples.code(to: .phone(try Samples.number()), until: Date().addingTimeInterval(-1))
        try await running(text: text, budget: TextBudget(total: nil, perRange: nil)) { _, _ in
            queue.add([dead])
            await queue.rows.wait { $0.list[0].isGivenUp }
        }
        #expect(queue.row(dead.id)?.reasons == ["expired"])
        #expect(text.attempts.value.isEmpty && queue.rows.value.counted.isEmpty)
    }

    @Test func aLaneWithoutConfigurationIsTriedOncePerTick() async throws {
        let text = ScriptedTextTransport()
        try await running(text: nil) { worker, delivery in
            queue.add(try texts(1))
            await queue.rows.wait { $0.list.allSatisfy { $0.attempts == 1 } }
            while worker.statistics.inFlight > 0 { await Task.yield() }
            queue.add(try texts(30))
            // Mails are still sent when they arrive.
            queue.add([try Samples.message()])
            await queue.rows.wait { $0.list.last?.isSent == true }
            for tick in 1...3 {
                await clock.waitForSleepers(of: .seconds(1))
                clock.advance(by: .seconds(1))
                await queue.rows.wait { $0.list.count { $0.attempts == 1 } == 1 + tick }
                while worker.statistics.inFlight > 0 { await Task.yield() }
            }
            delivery.replace(
                email: delivery.email, sms: SMSDelivery(transport: text), composer: delivery.composer)
            await clock.waitForSleepers(of: .seconds(1))
            clock.advance(by: .seconds(60))
            await queue.rows.wait { $0.list.allSatisfy(\.isSent) }
        }
        #expect(text.attempts.value.count == 31)
        #expect(logs.lines.filter { $0.level == .error }.count == 1)
    }

    @Test func aReloadTakesTheGatewayOver() async throws {
        let text = ScriptedTextTransport()
        try await running(text: nil) { _, delivery in
            queue.add(try texts(2))
            await queue.rows.wait { $0.list.allSatisfy { $0.attempts == 1 } }
            #expect(queue.rows.value.list.allSatisfy { $0.reasons == ["not-configured"] && !$0.isGivenUp })
            delivery.replace(
                email: delivery.email, sms: SMSDelivery(transport: text), composer: delivery.composer)
            await clock.waitForSleepers(of: .seconds(1))
            clock.advance(by: .seconds(15))
            await queue.rows.wait { $0.list.allSatisfy(\.isSent) }
        }
        #expect(logs.lines.filter { $0.level == .error }.count == 1)
    }
}
