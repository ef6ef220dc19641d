import Accounts
import Foundation
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Guesses of a PIN at the same time get no more tries than one after the other.
struct PinRaceTests {
    @Test func `ten thousand guesses at once get five tries`() async throws {
        try await TestServer.with { server in
            // The right one is in the last batch.
            let person = try await PersonWithPin(at: server, pin: "9999")
            var wrong = 0
            for batch in 0..<20 {
                let answers = try await guessAll(of: person, in: batch * 500..<(batch + 1) * 500)
                let areRefused = answers.allSatisfy { $0 == .wrongPIN || $0?.lock != nil }
                #expect(areRefused)
                wrong += answers.count { $0 == .wrongPIN }
            }
            #expect(wrong == 5)
            #expect(try await server.count("SELECT wrong_in_all FROM pins") == 5)
            let events = try await person.events()
            #expect(events.filter { $0 == "pin.wrong" }.count == 5)
        }
    }

    @Test func `guesses at once in each pause make the PIN void after twenty`() async throws {
        try await TestServer.with { server in
            let person = try await PersonWithPin(at: server, pin: "9999")
            var wrong = 0
            for round in 0..<30 {
                let answers = try await guessAll(of: person, in: round * 40..<(round + 1) * 40)
                let areRefused = answers.allSatisfy { $0 == .wrongPIN || $0 == .pinNotSet || $0?.lock != nil }
                #expect(areRefused)
                wrong += answers.count { $0 == .wrongPIN }
                try await server.unlockAll()
            }
            #expect(wrong == 20)
            #expect(try await server.count("SELECT wrong_in_all FROM pins") == 20)
            #expect(try await person.guess("9999") == .pinNotSet)
            let events = try await person.events()
            #expect(events.filter { $0 == "pin.void" }.count == 1)
        }
    }

    @Test func `two first PINs at once are one`() async throws {
        try await TestServer.with { server in
            let person = try await PersonWithPin(at: server)
            let answers = try await atOnce(8) {
                do {
                    try await person.set("1234")
                    return AccountsError?.none
                } catch let error as AccountsError {
                    return error
                }
            }
            let (set, refused) = (answers.count { $0 == nil }, answers.count { $0 == .existingPIN })
            #expect(set == 1 && refused == 7)
        }
    }

    /// The change and the removal read the sessions while the elevation is not written yet.
    @Test(arguments: ["change", "removal"])
    func `an elevation does not survive a change or removal that overtakes it`(change: String) async throws {
        try await TestServer.with { server in
            let person = try await PersonWithPin(at: server, pin: "1234")
            let session = Bind.uuid(person.principal.sessionID)
            let (unlock, end) = try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(Self.lockSession, session)
                // Waits for the session, with the account locked.
                let unlock = Task { try await person.unlock("1234") }
                try await server.awaitBlocked(1)
                // Waits for the account.
                let end = Task { try await make(change, by: person) }
                try await server.awaitBlocked(2)
                return (unlock, end)
            }
            try await unlock.value
            try await end.value
            #expect(try await person.events().contains("session.elevated"))
            #expect(try await person.isElevated() == false)
        }
    }

    @Test(arguments: ["change", "removal"])
    func `a session that ends while the PIN is hashed changes no PIN`(change: String) async throws {
        try await TestServer.with { server in
            let person = try await PersonWithPin(at: server, pin: "1234")
            let ended = try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(Self.lockAccounts)
                let ended = Task { try await make(change, by: person) }
                try await server.awaitBlocked(1)
                _ = try await transaction.execute(Self.endSession, .uuid(person.principal.sessionID))
                return ended
            }
            await #expect(throws: AccountsError.invalidToken) { try await ended.value }
            let changes = try await person.events().filter { ["pin.set", "pin.changed", "pin.removed"].contains($0) }
            #expect(changes == ["pin.set"])
        }
    }

    private func make(_ change: String, by person: PersonWithPin) async throws {
        if change == "change" {
            try await person.set("4321", replacing: true)
        } else {
            try await person.remove(showing: .password(APIClient.password))
        }
    }

    private static let lockAccounts = Statement(.write, "SELECT uid FROM accounts WHERE application_id = 1 FOR UPDATE")
    private static let endSession = Statement(
        .write, "UPDATE sessions SET ended_at = now(), end_reason = 'revoked' WHERE application_id = 1 AND id = $1")

    private static let lockSession = Statement(
        .write, "SELECT id FROM sessions WHERE application_id = 1 AND id = $1 FOR UPDATE")

    /// Guesses the PINs of a range at once.
    private func guessAll(of person: PersonWithPin, in range: Range<Int>) async throws -> [AccountsError?] {
        try await withThrowingTaskGroup(of: AccountsError?.self) { group in
            for number in range {
                let pin = String("000\(number)".suffix(4))
                group.addTask { try await person.guess(pin) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
