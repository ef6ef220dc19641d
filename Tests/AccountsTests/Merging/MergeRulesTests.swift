import Foundation
import ProviderKit
import Testing

@testable import Accounts

/// Tests merging two accounts and undoing the merge, with an in-memory store.
struct MergeRulesTests {
    private let app = TestApplication()

    /// Creates two accounts, the first one older, and a ticket with which the second one's session can merge them.
    private func accounts() async throws -> (older: Principal, younger: Principal, ticket: String) {
        let older = try await app.enter(evidence("a", "ada@example.com"))
        app.database.advance(.seconds(10))
        let younger = try await app.enter(evidence("b", "bob@example.com"))
        return (older, younger, try await ticket(for: evidence("a", "ada@example.com"), by: younger))
    }

    private func ticket(for evidence: VerifiedIdentity, by principal: Principal) async throws -> String {
        guard case .identityInUse(let ticket?, _)? = await app.refusal({ try await app.link(evidence, by: principal) })
        else { throw AccountsError.invalidToken }
        return ticket
    }

    private func merge(_ ticket: String, _ survivor: SurvivorChoice? = nil, by principal: Principal) async throws
        -> (Principal, Merge)
    {
        let (signedIn, merge) = try await app.merging.merge(
            ticket: ticket, survivor: survivor, by: principal, from: TestApplication.client)
        return (app.principal(signedIn), merge)
    }

    @Test(arguments: [(SurvivorChoice?.none, true), (.current, false), (.other, true)])
    func `the older account survives unless the caller chooses`(choice: SurvivorChoice?, isOlder: Bool) async throws {
        let (older, younger, ticket) = try await accounts()
        let (principal, merge) = try await merge(ticket, choice, by: younger)
        #expect(merge.survivor == (isOlder ? older : younger).uid)
        #expect(principal.uid == merge.survivor)
        #expect(app.rows.identities(of: merge.survivor).count == 2)
        #expect(app.rows.addresses(of: merge.survivor).map(\.value) == ["ada@example.com", "bob@example.com"])
        #expect(app.rows.status(of: merge.absorbed) == .absorbed(by: merge.survivor))
        #expect(!app.isLive(isOlder ? younger : older))
    }

    @Test func `the preview changes nothing and keeps the ticket`() async throws {
        let (older, younger, ticket) = try await accounts()
        for _ in 1...2 {
            let plan = try await app.merging.preview(ticket: ticket, by: younger).plan(nil, in: younger.application)
            #expect(plan.survivor == older.uid)
        }
        #expect(app.rows.merges.isEmpty)
        _ = try await merge(ticket, by: younger)
    }

    @Test func `a ticket merges once, within five minutes, in its own session`() async throws {
        let (_, younger, ticket) = try await accounts()
        let stranger = try await app.enter(evidence("stranger"))
        await #expect(throws: AccountsError.invalidToken) { try await merge(ticket, by: stranger) }
        app.database.advance(.seconds(299))
        _ = try await merge(ticket, by: younger)
        await #expect(throws: AccountsError.invalidToken) { try await merge(ticket, by: younger) }
    }

    @Test func `a ticket expires after five minutes`() async throws {
        let (_, younger, ticket) = try await accounts()
        app.database.advance(.seconds(300))
        await #expect(throws: AccountsError.invalidToken) { try await merge(ticket, by: younger) }
    }

    @Test func `concurrent merges by one ticket merge once`() async throws {
        let (_, younger, ticket) = try await accounts()
        let merged = await withTaskGroup(of: Bool.self) { group in
            for _ in 1...10 { group.addTask { (try? await merge(ticket, by: younger)) != nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(merged == 1)
        #expect(app.rows.merges.count == 1)
    }

    @Test func `a ticket is refused after the proven identity has left the account`() async throws {
        let (older, younger, ticket) = try await accounts()
        _ = try await app.link(evidence("c"), by: older)
        let identity = app.rows.identity("trusting", "a")
        _ = try await app.identities.remove(identity?.id, by: try await app.enter(evidence("c")))
        await #expect(throws: AccountsError.invalidToken) { try await merge(ticket, by: younger) }
    }

    @Test func `undoing a merge gives both accounts back what they had`() async throws {
        let (older, younger, ticket) = try await accounts()
        let before = app.rows
        let (principal, merge) = try await merge(ticket, by: younger)
        try await app.merging.undo(merge.id, by: principal)
        for uid in [older.uid, younger.uid] {
            #expect(app.rows.status(of: uid) == .live)
            #expect(app.rows.identities(of: uid).map(\.id) == before.identities(of: uid).map(\.id))
            #expect(app.rows.addresses(of: uid) == before.addresses(of: uid))
        }
        #expect(app.isLive(principal))
        await #expect(throws: AccountsError.mergeNotFound) { try await app.merging.undo(merge.id, by: principal) }
    }

    @Test func `undoing a merge returns a mailbox that signed in after it`() async throws {
        let (older, younger, ticket) = try await accounts()
        let (principal, merge) = try await merge(ticket, by: younger)
        app.database.advance(.seconds(1))
        let mailbox = evidence("bob@example.com", "bob@example.com")
        let reader = try await app.enter(mailbox, "email")
        #expect(reader.uid == older.uid)
        try await app.merging.undo(merge.id, by: principal)
        #expect(!app.isLive(reader) && app.isLive(principal))
        let again = try await app.enter(mailbox, "email")
        #expect(again.uid == younger.uid)
    }

    @Test(arguments: [(7 * 86400 - 1, true), (7 * 86400, false)])
    func `a merge can be undone within its window`(later: Int, isPossible: Bool) async throws {
        let (_, younger, ticket) = try await accounts()
        let (principal, merge) = try await merge(ticket, by: younger)
        app.database.advance(.seconds(later))
        let refusal = await app.refusal { try await app.merging.undo(merge.id, by: principal) }
        #expect(refusal == (isPossible ? nil : .mergeNotFound))
    }

    @Test func `only the survivor undoes a merge`() async throws {
        let (_, younger, ticket) = try await accounts()
        let (_, merge) = try await merge(ticket, by: younger)
        let stranger = try await app.enter(evidence("stranger"))
        await #expect(throws: AccountsError.mergeNotFound) { try await app.merging.undo(merge.id, by: stranger) }
    }

    @Test func `an undo that leaves an account without a way to sign in changes nothing`() async throws {
        let (_, younger, ticket) = try await accounts()
        let (principal, merge) = try await merge(ticket, by: younger)
        let moved = try #require(merge.identities.first)
        _ = try await app.identities.remove(moved, by: principal)
        guard case .lastUsableIdentity? = await app.refusal({ try await app.merging.undo(merge.id, by: principal) })
        else {
            Issue.record("the merge was undone")
            return
        }
        #expect(app.rows.status(of: merge.absorbed) == .absorbed(by: merge.survivor))
        #expect(app.rows.merges.map(\.merge.undoneAt) == [nil])
    }
}
