import Accounts
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// The rules of PINs: who may set, change and remove one, and how long it unlocks a session.
struct PinCodeTests {
    @Test func `a PIN unlocks the session for 15 minutes, and only this one`() async throws {
        try await TestServer.with { server in
            let person = try await PersonWithPin(at: server)
            #expect(try await person.status().hasPin == false)
            #expect(try await person.status().hasPassword)
            #expect(try await person.guess("1234") == .pinNotSet)
            try await person.set("1234")
            #expect(try await person.status().hasPin)
            #expect(try await person.isElevated() == false)

            let began = Date()
            try await person.unlock("1234")
            let until = try #require(try await person.status().elevatedUntil)
            #expect(abs(until.timeIntervalSince(began) - 900) < 60)
            let other = try await person.elsewhere()
            #expect(try await other.isElevated() == false)

            try await server.age("sessions", "elevated_until", by: "15 minutes")
            #expect(try await person.isElevated() == false)
            let events = try await person.events()
            #expect(events == ["pin.set", "session.elevated"])
        }
    }

    @Test func `locking, a new PIN, its removal and a new password end the elevation`() async throws {
        try await TestServer.with { server in
            let person = try await PersonWithPin(at: server, pin: "1234")
            let other = try await person.elsewhere()
            try await person.unlock("1234")
            try await person.lock()
            #expect(try await person.isElevated() == false)

            try await person.unlock("1234")
            try await other.change(to: "987654", showing: .pin("1234"))
            #expect(try await person.isElevated() == false)
            #expect(try await person.guess("1234") == .wrongPIN)

            try await person.unlock("987654")
            let changed = try await APIClient(server).put(
                "/auth/change-password", ["password": .string(APIClient.otherPassword)],
                bearer: person.person.accessToken)
            #expect(changed.status == 204, "\(changed.text)")
            #expect(try await person.isElevated() == false)

            try await person.unlock("987654")
            try await person.remove(showing: .pin("987654"))
            #expect(try await person.isElevated() == false)
            #expect(try await person.status().hasPin == false)
            #expect(try await person.events().last == "pin.removed")
        }
    }

    @Test func `a PIN is replaced by its owner only`() async throws {
        try await TestServer.with { server in
            let person = try await PersonWithPin(at: server, pin: "1234")
            await #expect(throws: AccountsError.existingPIN) { try await person.set("4321") }
            await #expect(throws: AccountsError.existingPIN) { try await person.later.set("4321", replacing: true) }
            await #expect(throws: AccountsError.wrongPIN) {
                try await person.change(to: "4321", showing: .pin("1111"))
            }
            await #expect(throws: AccountsError.invalidCredentials) {
                try await person.change(to: "4321", showing: .password("not the password"))
            }
            await #expect(throws: AccountsError.invalidCredentials) {
                try await person.remove(showing: .password("not the password"))
            }
            try await person.unlock("1234")

            try await person.set("4321", replacing: true)
            try await person.unlock("4321")
            try await person.later.change(to: "2345", showing: .password(APIClient.password))
            try await person.unlock("2345")
            try await person.later.remove(showing: .password(APIClient.password))
            #expect(try await person.guess("2345") == .pinNotSet)
        }
    }

    @Test func `a PIN has four to six digits`() async throws {
        try await TestServer.with { server in
            let person = try await PersonWithPin(at: server)
            for pin in ["", "123", "1234567", "12a4", "１２３４", "12 34", "-123"] {
                let reason = AccountsError.invalidParameter("pinCode", reason: "must be 4 to 6 digits")
                await #expect(throws: reason, "\(pin)") { try await person.set(pin) }
                await #expect(throws: reason, "\(pin)") { try await person.unlock(pin) }
            }
        }
    }

    @Test func `wrong PINs lock for 15 minutes, then twice as long, and a right one forgives them`() async throws {
        try await TestServer.with { server in
            let person = try await PersonWithPin(at: server, pin: "1234")
            for _ in 1...4 { #expect(try await person.guess("1111") == .wrongPIN) }
            try await person.unlock("1234")
            for _ in 1...5 { #expect(try await person.guess("1111") == .wrongPIN) }
            for minutes in [15, 30, 60] {
                // The right PIN gets the answer of a wrong one.
                let wait = try #require(try await person.guess("1234")?.lock)
                #expect(wait > .seconds(minutes * 60 - 60) && wait <= .seconds(minutes * 60), "\(minutes): \(wait)")
                try await server.unlockAll()
                #expect(try await person.guess("1111") == .wrongPIN)
            }
        }
    }

    @Test func `after 20 wrong tries the PIN is void until a fresh sign-in sets a new one`() async throws {
        try await TestServer.with { server in
            let person = try await PersonWithPin(at: server, pin: "1234")
            for _ in 1...19 {
                #expect(try await person.guess("1111") == .wrongPIN)
                try await server.unlockAll()
            }
            // A right PIN is no wrong try, but forgives none of those before.
            try await person.unlock("1234")
            #expect(try await person.guess("1111") == .wrongPIN)
            try await server.unlockAll()
            #expect(try await person.guess("1234") == .pinNotSet)
            #expect(try await person.status().hasPin == false)
            #expect(try await person.events().filter { $0 == "pin.void" }.count == 1)

            await #expect(throws: AccountsError.tokenTooOld) { try await person.later.set("4321") }
            await #expect(throws: AccountsError.pinNotSet) {
                try await person.later.change(to: "4321", showing: .pin("1234"))
            }
            try await person.set("4321")
            try await person.unlock("4321")
        }
    }

    @Test func `the database has no PIN, and erasure leaves none`() async throws {
        try await TestServer.with { server in
            let person = try await PersonWithPin(at: server, pin: "8642")
            #expect(try await person.guess("1111") == .wrongPIN)
            let hash = try #require(try await server.text("SELECT hash FROM pins"))
            #expect(hash.hasPrefix("$argon2id$"))
            try await APIClient(server).deleteAccount(person.person)
            try await server.erase(person.person.uid)
            #expect(try await server.count("SELECT count(*) FROM pins") == 0)
            #expect(try await server.count("SELECT count(*) FROM password_failures") == 0)
        }
    }
}
