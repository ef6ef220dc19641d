import Accounts
import Delivery
import Foundation
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// Text messages through the real outbox.
@Suite struct TextDeliveryTests {
    private func message(_ number: String = "+33612345678", locale: String? = nil) throws -> Message {
        Message(.signInCode, to: .phone(try #require(PhoneNumber(number))), code: "042137", locale: locale)
    }

    @Test func `a text message reaches the inbox in its reader's language`() async throws {
        try await TestServer.with { server in
            let application = try await server.application()
            try await server.backend.store.enqueue(
                [try message(locale: "fr-CH, de;q=0.9")], application: application.id)
            try await eventually("the text arrives") { server.inbox.messages().count == 1 }
            let shown = try #require(server.inbox.messages().first)
            #expect(shown.kind == .sms && shown.to == "+33612345678")
            #expect(shown.text == "042137 est votre code pour demo. Ne le communiquez à personne.")
            #expect(try await server.count("SELECT count(*) FROM outbox WHERE channel = 'sms'") == 1)
        }
    }

    @Test func `a worker whose lease has ended does not fail what another one has taken or sent`() async throws {
        try await TestServer.with { server in
            let (application, outbox) = (try await server.application(), server.backend.outbox)
            let message = try message()
            try await server.backend.store.enqueue([message], application: application.id)
            try await eventually("the text is sent") {
                try await server.count("SELECT count(*) FROM outbox WHERE sent_at IS NOT NULL") == 1
            }
            try await server.execute(
                "UPDATE outbox SET sent_at = NULL, attempts = 2, due_at = now() + interval '1 hour'")
            let late = TakenMessage(message: message, application: application.id, applicationName: "", attempts: 0)
            try await outbox.markFailed(late, reason: "late", retryAfter: nil)
            let failed = try await server.count("SELECT count(*) FROM outbox WHERE failed_at IS NOT NULL")
            #expect(failed == 0, "it is being sent")
            let second = TakenMessage(message: message, application: application.id, applicationName: "", attempts: 1)
            try await outbox.markFailed(second, reason: "refused", retryAfter: nil)
            #expect(try await server.count("SELECT count(*) FROM outbox WHERE failure = 'refused'") == 1)
            for worker in [late, second] {
                try await outbox.markDelivered(worker)
                try await outbox.markFailed(worker, reason: "late", retryAfter: nil)
                let sent = try await server.count(
                    "SELECT count(*) FROM outbox WHERE sent_at IS NOT NULL AND failed_at IS NULL AND failure IS NULL")
                #expect(sent == 1)
            }
        }
    }

    @Test func `concurrent messages stay within the budget, each counted once`() async throws {
        // The windows are hours and days of the clock: if one ends within a minute, this waits for the next one.
        let left = 3600 - Date().timeIntervalSince1970.truncatingRemainder(dividingBy: 3600)
        if left < 60 { try await Task.sleep(for: .seconds(left + 1)) }
        try await TestServer.with { server in
            let application = try await server.application()
            let budget = TextBudget(total: .init(7, per: .seconds(86_400)), perRange: .init(5, per: .seconds(3600)))
            let messages = try (0..<40).map { _ in try message() }
            try await server.backend.store.enqueue(messages, application: application.id)
            let outbox = server.backend.outbox
            @Sendable func count(_ message: Message, _ range: String) async throws -> Bool {
                let taken = TakenMessage(
                    message: message, application: application.id, applicationName: "", attempts: 0)
                return try await outbox.count(taken, toward: budget, range: range)
            }
            let first = try await withThrowingTaskGroup(of: (Int, Bool).self) { group in
                for (index, message) in messages.prefix(20).enumerated() {
                    group.addTask { (index, try await count(message, "+33612")) }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            let passed = first.filter(\.value).map(\.key)
            #expect(passed.count == 5)
            // A retry is not counted again, and another prefix can use the rest of the total budget.
            for index in passed { #expect(try await count(messages[index], "+33612")) }
            var others = 0
            for message in messages[20..<30] where try await count(message, "+49151") { others += 1 }
            #expect(others == 2)
            // A message that the total refuses uses up nothing of its range.
            #expect(try await count(messages[32], "+34600") == false)
            #expect(try await server.count("SELECT count(*) FROM text_budget WHERE scope = '+34600'") == 0)
            // Simulates the next hour of the same day, and then the next day.
            try await server.execute(
                "UPDATE text_budget SET window_start = window_start - interval '1 hour' WHERE scope <> 'all'")
            #expect(try await count(messages[30], "+33612") == false)
            try await server.execute("UPDATE text_budget SET window_start = window_start - interval '1 day'")
            #expect(try await count(messages[31], "+33612"))
            #expect(try await server.count("SELECT count(*) FROM text_budget") == 3)
        }
    }

    @Test func `without a limit everything passes`() async throws {
        try await TestServer.with { server in
            let application = try await server.application()
            let messages = try (0..<10).map { _ in try message() }
            try await server.backend.store.enqueue(messages, application: application.id)
            for message in messages {
                let passes = try await server.backend.outbox.count(
                    TakenMessage(message: message, application: application.id, applicationName: "", attempts: 0),
                    toward: TextBudget(total: nil, perRange: nil), range: "+33612")
                #expect(passes)
            }
        }
    }
}
