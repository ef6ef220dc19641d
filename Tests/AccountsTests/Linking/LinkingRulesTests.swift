import Foundation
import ProviderKit
import Testing

@testable import Accounts

/// Tests linking decisions and the rows that they write, with an in-memory store.
struct LinkingRulesTests {
    private let app = TestApplication()
    private let ada = "ada@example.com"

    @Test func `an unknown identity opens an account, and a known one signs in to it`() async throws {
        let first = try await app.enter(evidence("a", ada))
        let again = try await app.enter(evidence("a", ada))
        #expect(first.uid == again.uid)
        #expect(first.sessionID != again.sessionID)
        #expect(app.rows.identities.count == 1)
    }

    @Test(arguments: [(true, true, true), (true, false, false), (false, true, false), (false, false, false)])
    func `only a verified address from a source trusted for it gets an owner`(
        isVerified: Bool, isAuthoritative: Bool, isOwned: Bool
    ) async throws {
        _ = try await app.enter(evidence("a", ada, isVerified: isVerified, isAuthoritative: isAuthoritative))
        #expect(app.rows.owners.isEmpty != isOwned)
        // An identity of another provider with the same address joins the owner.
        _ = try await app.enter(evidence("b", ada), "other")
        #expect(app.rows.accounts.count == (isOwned ? 1 : 2))
    }

    @Test func `an unproven claim on an address ends when another account proves it`() async throws {
        let squatter = try await app.enter(evidence("a", ada, isVerified: false))
        let owner = try await app.enter(evidence("b", ada), "other")
        #expect(owner.uid != squatter.uid)
        #expect(!app.isLive(squatter))
        #expect(app.rows.identities(of: squatter.uid).first?.shown == [])
    }

    @Test(arguments: [ApplicationPolicy.AutomaticLinking.verified, .never])
    func `an identity joins the account that owns its address, unless the application forbids it`(
        automatic: ApplicationPolicy.AutomaticLinking
    ) async throws {
        let app = TestApplication { $0.automaticLinking = automatic }
        let owner = try await app.enter(evidence("a", ada))
        let other = try await app.enter(evidence("b", ada), "other")
        #expect((other.uid == owner.uid) == (automatic == .verified))
        #expect(app.rows.owners.values.map(\.uid) == [owner.uid])
        #expect(app.rows.messages.map(\.topic) == (automatic == .verified ? [.identityLinked] : []))
    }

    @Test func `evidence whose addresses belong to several accounts joins none of them`() async throws {
        let one = try await app.enter(evidence("a", ada))
        let two = try await app.enter(evidence("b", "bob@example.com"))
        var both = evidence("c", ada)
        both.addresses += evidence("c", "bob@example.com").addresses
        let third = try await app.enter(both, "other")
        #expect(![one.uid, two.uid].contains(third.uid))
        #expect(app.rows.addresses(of: third.uid).isEmpty)
    }

    @Test(arguments: [
        (ProviderMode.open, true, true), (.existing, false, true), (.linkOnly, false, false), (.off, false, false),
    ])
    func `a provider's mode decides who signs up and who signs in`(
        mode: ProviderMode, signsUp: Bool, signsIn: Bool
    ) async throws {
        let app = TestApplication(modes: ["other": mode])
        #expect(await app.refusal { try await app.enter(evidence("new"), "other") } == nil ? signsUp : !signsUp)
        // The identity joins the account that owns the address, which does not count as a sign-up.
        _ = try await app.enter(evidence("a", ada))
        let refusal = await app.refusal { try await app.enter(evidence("b", ada), "other") }
        #expect((refusal == nil) == signsIn)
    }

    @Test func `a refused sign-in writes nothing`() async throws {
        let app = TestApplication(modes: ["other": .existing])
        var used = evidence("a")
        used.singleUse = SingleUse(id: "jti", expires: .distantFuture)
        #expect(await app.refusal { try await app.enter(used, "other") } != nil)
        #expect(app.rows.accounts.isEmpty)
        #expect(app.rows.spent.isEmpty)
    }

    @Test func `evidence that may be presented once opens one session`() async throws {
        var once = evidence("a")
        once.singleUse = SingleUse(id: "jti", expires: .distantFuture)
        _ = try await app.enter(once)
        await #expect(throws: ProviderError.self) { try await app.enter(once) }
        #expect(app.rows.sessions.count == 1)
    }

    @Test func `concurrent sign-ins of an unknown identity open one account`() async throws {
        let uids = try await withThrowingTaskGroup(of: UUID.self) { group in
            for _ in 1...20 { group.addTask { try await app.enter(evidence("a", ada)).uid } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(uids.count == 1)
        #expect(app.rows.accounts.count == 1)
        #expect(app.rows.sessions.count == 20)
    }
}

/// Tests a provider that trusts a phone number for 90 days after it was last proven.
struct IdleNumberRulesTests {
    private let app = TestApplication()
    private let proof: VerifiedIdentity

    init() throws {
        let number = try #require(PhoneNumber("+33612345678"))
        proof = ChallengeTarget(providerUid: number.value, address: .phone(number)).evidence
    }

    @Test(arguments: [(90, true), (91, false)])
    func `an idle number opens a new account, and its old owner continues as a guest`(
        days: Int, isSame: Bool
    ) async throws {
        let old = try await app.enter(proof, "phone")
        app.database.advance(.seconds(days * 86400))
        let new = try await app.enter(proof, "phone")
        #expect((new.uid == old.uid) == isSame)
        #expect(app.rows.addresses(of: new.uid).count == 1)
        #expect(app.rows.identities(of: old.uid).map(\.isGuest) == [!isSame])
        #expect(app.isLive(old))
    }

    @Test func `an account that nothing but the number could sign in to is deleted`() async throws {
        let old = try await app.enter(proof, "phone")
        app.database.advance(.seconds(366 * 86400))
        let new = try await app.enter(proof, "phone")
        #expect(new.uid != old.uid)
        guard case .deleted? = app.rows.status(of: old.uid) else {
            Issue.record("the account is not being deleted")
            return
        }
    }

    @Test func `an idle number of an account with another way to sign in needs that way`() async throws {
        let old = try await app.enter(proof, "phone")
        _ = try await app.link(evidence("a"), by: old)
        app.database.advance(.seconds(91 * 86400))
        guard case .secondProofRequired? = await app.refusal({ try await app.enter(proof, "phone") }) else {
            Issue.record("the number signed in")
            return
        }
        #expect(app.rows.addresses(of: old.uid).count == 1)
    }
}

/// Tests links that a signed-in account requests.
struct LinkRulesTests {
    private let app = TestApplication()
    private let ada = "ada@example.com"

    @Test func `an unknown identity joins the account that links it`() async throws {
        let principal = try await app.enter(evidence("a"))
        app.database.advance(.seconds(1))
        let linked = try await app.link(evidence("b", ada), by: principal)
        #expect(linked.uid == principal.uid)
        #expect(try await app.identities.list(of: principal).map(\.isCurrent) == [true, false])
        #expect(app.rows.addresses(of: principal.uid).map(\.value) == [ada])
    }

    @Test func `an identity of another account is in use, and the ticket merges the two`() async throws {
        let other = try await app.enter(evidence("a"))
        app.database.advance(.seconds(10))
        let principal = try await app.enter(evidence("b"))
        let refusal = await app.refusal { try await app.link(evidence("a"), by: principal) }
        guard case .identityInUse(let ticket?, _) = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        let (_, merge) = try await app.merging.merge(
            ticket: ticket, survivor: nil, by: principal, from: TestApplication.client)
        #expect(merge.survivor == other.uid)
        #expect(merge.absorbed == principal.uid)
    }

    @Test func `a guest who links an identity stays the same account in the same session`() async throws {
        let guest = try await app.guest()
        let linked = try await app.link(evidence("a", ada), by: guest)
        #expect(linked.uid == guest.uid)
        #expect(linked.sessionID == guest.sessionID)
        #expect(app.rows.identities(of: guest.uid).map(\.isGuest) == [false])
    }

    @Test(arguments: [ConflictChoice.keep, .switch, .merge])
    func `a guest who links an identity with an account does what onConflict says`(choice: ConflictChoice) async throws
    {
        let account = try await app.enter(evidence("a"))
        let guest = try await app.guest()
        let linked = try? await app.link(evidence("a"), onConflict: choice, by: guest)
        switch choice {
        case .keep:
            #expect(linked == nil)
            #expect(app.isLive(guest))
        case .switch:
            #expect(linked?.uid == account.uid)
            guard case .deleted? = app.rows.status(of: guest.uid) else {
                Issue.record("the guest is not being deleted")
                return
            }
        case .merge:
            #expect(linked?.uid == account.uid)
            #expect(app.rows.status(of: guest.uid) == .absorbed(by: account.uid))
        }
    }

    @Test func `for a minute a guest who moved may repeat the call`() async throws {
        let account = try await app.enter(evidence("a"))
        let guest = try await app.guest()
        for wait in [0, 59] {
            app.database.advance(.seconds(wait))
            #expect(try await app.link(evidence("a"), onConflict: .switch, by: guest).uid == account.uid)
        }
        app.database.advance(.seconds(2))
        await #expect(throws: AccountsError.invalidToken) {
            try await app.link(evidence("a"), onConflict: .switch, by: guest)
        }
    }

    @Test func `the last identity that can sign in is not removed while others remain`() async throws {
        let app = TestApplication(modes: ["other": .linkOnly])
        let principal = try await app.enter(evidence("a"))
        _ = try await app.link(evidence("b"), "other", by: principal)
        guard case .lastUsableIdentity? = await app.refusal({ try await app.identities.remove(nil, by: principal) })
        else {
            Issue.record("the identity was removed")
            return
        }
        #expect(app.rows.identities.count == 2)
    }

    @Test func `removing the only identity deletes the account`() async throws {
        let principal = try await app.enter(evidence("a"))
        guard case .accountDeleted(let receipt) = try await app.identities.remove(nil, by: principal) else {
            Issue.record("the account is not being deleted")
            return
        }
        #expect(try await app.deletion.status(of: receipt, in: app.application).phase == .scheduled)
        #expect(!app.isLive(principal))
    }
}
