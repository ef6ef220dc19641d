import Foundation
import ProviderKit
import Testing

@testable import Accounts

/// Tests the rules of one-time codes with an in-memory store.
struct OneTimeCodeRulesTests {
    private let app = TestApplication()
    private let ada = "ada@example.com"

    private func send(
        _ address: String = "ada@example.com", by principal: Principal? = nil, network: String = "192.0.2.1"
    ) async throws -> SentCode {
        try await app.codes.begin(
            address, ofKind: app.provider("email").kind, named: "email", by: principal,
            from: Client(device: nil, address: network), in: app.application)
    }

    private func sign(in challenge: SentCode, _ code: String?, by principal: Principal? = nil) async throws -> Principal
    {
        let presented = PresentedOneTimeCode(challengeID: challenge.id.text, code: code ?? "")
        return app.principal(
            try await app.codes.complete(
                presented, with: app.provider("email"), by: principal, from: TestApplication.client,
                in: app.application))
    }

    /// The code in the last message.
    private var code: String? { app.rows.messages.last?.code }

    /// A code that differs from the one sent.
    private var wrongCode: String { code == "000000" ? "000001" : "000000" }

    @Test func `the right code proves the address and works once`() async throws {
        let challenge = try await send()
        let principal = try await sign(in: challenge, code)
        #expect(app.rows.addresses(of: principal.uid).map(\.value) == [ada])
        await #expect(throws: AccountsError.invalidCredentials) { try await sign(in: challenge, code) }
    }

    @Test(arguments: [(4, true), (5, false)])
    func `after five wrong answers the right one is refused`(wrong: Int, works: Bool) async throws {
        let challenge = try await send()
        for _ in 0..<wrong {
            await #expect(throws: AccountsError.invalidCredentials) { try await sign(in: challenge, wrongCode) }
        }
        #expect(await app.refusal { try await sign(in: challenge, code) } == (works ? nil : .invalidCredentials))
    }

    @Test(arguments: [(599, true), (600, false)])
    func `a code expires after ten minutes`(later: Int, works: Bool) async throws {
        let challenge = try await send()
        app.database.advance(.seconds(later))
        #expect(await app.refusal { try await sign(in: challenge, code) } == (works ? nil : .invalidCredentials))
    }

    @Test func `within a minute a second request sends no other code`() async throws {
        let first = try await send()
        app.database.advance(.seconds(59))
        let second = try await send()
        #expect(second.id == first.id)
        #expect(second.resendAfter == .seconds(1))
        #expect(app.rows.messages.count == 1)
        _ = try await sign(in: first, code)
    }

    @Test func `after a minute a new code replaces the old one`() async throws {
        let first = try await send()
        let old = code
        app.database.advance(.seconds(60))
        let second = try await send()
        #expect(second.id != first.id)
        await #expect(throws: AccountsError.invalidCredentials) { try await sign(in: first, old) }
        _ = try await sign(in: second, code)
    }

    @Test func `a request from another network gets its own challenge, with its own attempts`() async throws {
        let own = try await send()
        let other = try await send(network: "198.51.100.1")
        #expect(other.id != own.id)
        for _ in 1...5 {
            await #expect(throws: AccountsError.invalidCredentials) { try await sign(in: other, wrongCode) }
        }
        await #expect(throws: AccountsError.invalidCredentials) { try await sign(in: other, code) }
        _ = try await sign(in: own, code)
    }

    @Test func `a code that a session requested is answered by that session alone`() async throws {
        let principal = try await app.enter(evidence("a"))
        let challenge = try await send(by: principal)
        await #expect(throws: AccountsError.invalidCredentials) { try await sign(in: challenge, code) }
        _ = try await sign(in: challenge, code, by: principal)
    }

    @Test func `concurrent right answers open one session`() async throws {
        let challenge = try await send()
        let code = code
        let opened = await withTaskGroup(of: Bool.self) { group in
            for _ in 1...5 { group.addTask { (try? await sign(in: challenge, code)) != nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(opened == 1)
        #expect(app.rows.sessions.count == 1)
    }

    @Test func `a provider without sign-up sends codes only to addresses with an account`() async throws {
        let app = TestApplication(modes: ["email": .existing])
        _ = try await app.enter(evidence("a", ada))
        for address in [ada, "stranger@example.com"] {
            _ = try await app.codes.begin(
                address, ofKind: app.provider("email").kind, named: "email", by: nil, from: TestApplication.client,
                in: app.application)
        }
        #expect(app.rows.messages.map(\.hasNoRecipient) == [false, true])
    }
}
