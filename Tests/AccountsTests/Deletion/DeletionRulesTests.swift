import Foundation
import ProviderKit
import Testing

@testable import Accounts

/// Tests the rules of deleting and restoring accounts with an in-memory store.
struct DeletionRulesTests {
    private let app = TestApplication()
    private let grace = 30 * 86400

    private func restoreToken(_ evidence: VerifiedIdentity) async -> String? {
        guard case .accountDeleted(_, let token, _)? = await app.refusal({ try await app.enter(evidence) }) else {
            return nil
        }
        return token
    }

    private func restore(_ token: String) async throws -> Principal {
        app.principal(try await app.deletion.restore(with: token, from: TestApplication.client, in: app.application))
    }

    @Test func `a deletion ends every session and starts the grace period`() async throws {
        let other = try await app.enter(evidence("a"))
        let principal = try await app.enter(evidence("a"))
        let receipt = try await app.deletion.request(by: principal)
        #expect(!app.isLive(principal) && !app.isLive(other))
        let status = try await app.deletion.status(of: receipt, in: app.application)
        #expect(status.phase == .scheduled)
        #expect(status.purgeAfter.timeIntervalSince(status.requestedAt) == TimeInterval(grace))
        #expect(app.rows.events.last == .accountDeleted)
    }

    @Test func `a session that has ended deletes nothing`() async throws {
        let principal = try await app.enter(evidence("a"))
        _ = try await app.deletion.request(by: principal)
        await #expect(throws: AccountsError.invalidToken) { try await app.deletion.request(by: principal) }
        #expect(app.rows.deletions.count == 1)
    }

    @Test func `a sign-in within the grace period offers a token that restores the account`() async throws {
        let principal = try await app.enter(evidence("a", "ada@example.com"))
        let receipt = try await app.deletion.request(by: principal)
        let token = try #require(await restoreToken(evidence("a", "ada@example.com")))
        let restored = try await restore(token)
        #expect(restored.uid == principal.uid)
        #expect(app.rows.status(of: principal.uid) == .live)
        #expect(try await app.deletion.status(of: receipt, in: app.application).phase == .restored)
        #expect(app.rows.messages.map(\.topic) == [.accountDeleted, .accountRestored])
        #expect(app.rows.sessions[restored.sessionID]?.continues == principal.sessionID)
    }

    @Test func `a restore token works once`() async throws {
        _ = try await app.deletion.request(by: try await app.enter(evidence("a")))
        let token = try #require(await restoreToken(evidence("a")))
        _ = try await restore(token)
        await #expect(throws: AccountsError.invalidToken) { try await restore(token) }
    }

    @Test func `a restore ends the account's other restore tokens`() async throws {
        _ = try await app.deletion.request(by: try await app.enter(evidence("a")))
        let tokens = [await restoreToken(evidence("a")), await restoreToken(evidence("a"))].compactMap { $0 }
        _ = try await restore(tokens[0])
        await #expect(throws: AccountsError.invalidToken) { try await restore(tokens[1]) }
    }

    @Test(arguments: [(599, true), (600, false)])
    func `a restore token expires after ten minutes`(later: Int, works: Bool) async throws {
        _ = try await app.deletion.request(by: try await app.enter(evidence("a")))
        let token = try #require(await restoreToken(evidence("a")))
        app.database.advance(.seconds(later))
        #expect(await app.refusal { try await restore(token) } == (works ? nil : .invalidToken))
    }

    @Test func `an account cannot be restored after its grace period`() async throws {
        _ = try await app.deletion.request(by: try await app.enter(evidence("a")))
        app.database.advance(.seconds(grace - 1))
        let token = try #require(await restoreToken(evidence("a")))
        app.database.advance(.seconds(1))
        await #expect(throws: AccountsError.invalidToken) { try await restore(token) }
    }

    @Test func `another session's request is refused when the account is already being deleted`() async throws {
        let one = try await app.enter(evidence("a"))
        let two = try await app.enter(evidence("a"))
        async let first = app.refusal { try await app.deletion.request(by: one) }
        async let second = app.refusal { try await app.deletion.request(by: two) }
        let refusals = await [first, second].compactMap { $0 }
        #expect(refusals == [.invalidToken])
        #expect(app.rows.deletions.count == 1)
    }
}
