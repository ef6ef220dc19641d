import Accounts
import Foundation
import GatehouseTesting

struct OutboxFailure: Error {}

/// An in-memory outbox with a clock that the test advances.
final class MemoryOutbox: OutboxQueue {
    struct Row: Sendable {
        let message: Message
        var attempts = 0
        var dueAt: Duration = .zero
        var isSent = false
        var isGivenUp = false
        var reasons: [String] = []
        var delays: [Duration?] = []
    }

    struct Rows: Sendable {
        var list: [Row] = []
        /// For each call of `take`, the number of mails that it could take.
        var takes: [Int] = []
        var failTakes = false
        /// The number range of each text message that was counted toward the budget.
        var counted: [String] = []
        /// How many of them were within it.
        var passed = 0
        var failedMarks = 0
        /// For each message, how many of the next attempts to mark it fail.
        var failingMarks: [UUID: Int] = [:]
    }

    let rows = Observed(Rows())
    /// While `false`, calls of `take` wait before they return their messages.
    let answers = Observed(true)
    let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation
    private let clock: ManualClock

    init(clock: ManualClock) {
        self.clock = clock
        (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
    }

    /// Adds messages.
    ///
    /// Without an announcement, the worker finds them only at its next tick.
    func add(_ messages: [Message], isAnnounced: Bool = true) {
        rows.update { $0.list += messages.map { Row(message: $0) } }
        if isAnnounced { arrival.yield() }
    }

    func row(_ id: UUID) -> Row? {
        rows.value.list.first { $0.message.id == id }
    }

    func take(_ places: [MessageChannel: Int], lease: Duration) async throws -> [TakenMessage] {
        let now = clock.now.offset
        let result = rows.update { rows -> Result<[TakenMessage], OutboxFailure> in
            rows.takes.append(places[.email] ?? 0)
            guard !rows.failTakes else { return .failure(OutboxFailure()) }
            var places = places
            var taken: [TakenMessage] = []
            for index in rows.list.indices {
                let row = rows.list[index]
                let free = places[row.message.channel] ?? 0
                guard !row.isSent, !row.isGivenUp, row.dueAt <= now, free > 0 else { continue }
                places[row.message.channel] = free - 1
                rows.list[index].dueAt = now + lease
                taken.append(
                    TakenMessage(
                        message: row.message, application: 1, applicationName: "demo", attempts: row.attempts))
            }
            return .success(taken)
        }
        await answers.wait { $0 }
        return try result.get()
    }

    func markDelivered(_ entry: TakenMessage) async throws {
        try mark(entry.message.id) { $0.isSent = true }
    }

    func markFailed(_ entry: TakenMessage, reason: String, retryAfter delay: Duration?) async throws {
        let now = clock.now.offset
        try mark(entry.message.id) { row in
            row.attempts += 1
            row.reasons.append(reason)
            row.delays.append(delay)
            row.isGivenUp = delay == nil
            row.dueAt = now + (delay ?? .zero)
        }
    }

    func count(_ entry: TakenMessage, toward budget: TextBudget, range: String) async throws -> Bool {
        rows.update { rows in
            rows.counted.append(range)
            guard rows.passed < budget.total?.count ?? .max else { return false }
            rows.passed += 1
            return true
        }
    }

    private func mark(_ id: UUID, _ change: @Sendable (inout Row) -> Void) throws {
        let isFailing = rows.update { rows in
            let failures = rows.failingMarks[id, default: 0]
            guard failures == 0 else {
                rows.failingMarks[id] = failures - 1
                rows.failedMarks += 1
                return true
            }
            for index in rows.list.indices where rows.list[index].message.id == id {
                change(&rows.list[index])
            }
            return false
        }
        if isFailing { throw OutboxFailure() }
    }
}
