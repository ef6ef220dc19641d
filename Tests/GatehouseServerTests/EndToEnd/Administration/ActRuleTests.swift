import Accounts
import Administration
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// What holds for every act on an account.
struct ActRuleTests {
    /// An act with a body that is right but for the reason; `UID` stands for the account's uid.
    struct Act: Sendable, CustomTestStringConvertible {
        let path: String
        let scope: AdminScope
        var body: [String: JSONValue] = [:]
        var method = HTTPMethod.POST
        /// Whether a newly registered person is in a state that permits the act.
        var isPossible = true

        var testDescription: String { path.isEmpty ? "PATCH" : path }

        func call(
            _ admin: AdminClient, on uid: String, reason: JSONValue? = APIClient.reason
        ) async throws -> APIClient.Answer {
            let body = body.mapValues { value in value.string.map { .string($0.replacing("UID", with: uid)) } ?? value }
            return try await admin.act(path, on: uid, body, reason: reason, method: method)
        }

        /// What shows more of an account; it changes nothing, so not every rule of an act is one of it.
        static let reveal = Act(path: "/reveal", scope: .revealAccounts, body: ["fields": ["email"]])

        static let all = [
            Act(path: "", scope: .writeAccounts, body: ["displayName": "Ada"], method: .PATCH),
            Act(path: "/access", scope: .accessOfAccounts, body: ["roles": ["editor"]], method: .PUT),
            Act(path: "/disable", scope: .writeAccounts), Act(path: "/enable", scope: .writeAccounts),
            Act(path: "/require-password-change", scope: .writeAccounts),
            Act(path: "/sessions/end", scope: .writeAccounts),
            Act(
                path: "/identities/00000000-0000-4000-8000-000000000000/unlink", scope: .writeAccounts,
                isPossible: false),
            Act(path: "/notes", scope: .writeAccounts, body: ["text": "x"]),
            Act(path: "/delete", scope: .writeAccounts), Act(path: "/restore", scope: .writeAccounts),
            Act(path: "/erase", scope: .eraseAccounts, body: ["confirm": "erase UID"], isPossible: false),
            Act(path: "/export", scope: .exportAccounts, body: ["confirm": "export UID"]),
        ]
    }

    @Test(arguments: Act.all)
    func `it needs a reason, an account and its scope`(act: Act) async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            let events = try await server.audited {
                expectError(try await act.call(admin, on: person.uid, reason: nil), 400, "MISSING_PARAMETER")
                expectError(try await act.call(admin, on: person.uid, reason: [:]), 400, "MISSING_PARAMETER")
                for wrong: JSONValue in [
                    "support", ["code": "boredom"], ["code": "support", "ticket": ""],
                    ["code": "support", "ticket": "Ada Lovelace"], ["code": "support", "ticket": "é"],
                    ["code": "support", "ticket": .string(String(repeating: "1", count: 65))],
                    ["code": "support", "note": .string(String(repeating: "é", count: 2001))],
                ] {
                    let answer = try await act.call(admin, on: person.uid, reason: wrong)
                    expectError(answer, 400, "INVALID_PARAMETER", "\(wrong)")
                }
                for unknown in [UUID().uuidString.lowercased(), "x"] {
                    expectError(try await act.call(admin, on: unknown), 404, "ACCOUNT_NOT_FOUND", unknown)
                }
            }
            #expect(events == [], "nothing happened")
            let others = Set(AdminScope.allCases.filter(\.isForKeys)).subtracting([act.scope])
            let refusals = try await server.audited {
                let refused = try await act.call(AdminClient(server, others), on: person.uid)
                expectError(refused, 403, "FORBIDDEN")
                #expect(refused["error"]["details"]["scope"].string == act.scope.rawValue)
            }
            #expect(refusals.map(\.event) == ["service-key.created", "admin.refused"])
            #expect(try await admin.api.status(of: person.accessToken) == 200)
        }
    }

    @Test(arguments: Act.all.filter(\.isPossible))
    func `the code, the ticket and the actor are recorded, and the note is not`(act: Act) async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            // The acts that end a state need it first.
            if act.path == "/enable" { _ = try await admin.act("/disable", on: person.uid) }
            if act.path == "/restore" { _ = try await admin.act("/delete", on: person.uid) }
            let ticket = String(repeating: "A9#/_.:-", count: 8)
            let reason: JSONValue = ["code": "fraud", "ticket": .string(ticket), "note": "about the parcel"]
            let events = try await server.acts {
                let answer = try await act.call(admin, on: person.uid, reason: reason)
                #expect((200..<300).contains(answer.status), "\(answer.text)")
            }
            let event = try #require(events.first)
            #expect(events.count == 1, "\(events)")
            let pseudonym = try await server.pseudonym(of: person.uid)
            #expect(event.account == pseudonym)
            #expect(event.details["actor"] == admin.actor)
            #expect(event.details["reason"] == ["code": "fraud", "ticket": .string(ticket)])
            #expect(!"\(events)".contains("parcel"))
            let notes = try await admin.get("/notes", of: person.uid)
            #expect(notes["items"].array?.contains { $0["text"] == "about the parcel" } == true)
        }
    }

    @Test(arguments: Act.all.filter { $0.isPossible && !["/notes", "/restore", "/enable"].contains($0.path) })
    func `the uid of a merged account stands for the survivor`(act: Act) async throws {
        try await TestServer.administered { server, admin in
            let api = admin.api
            let person = try await api.register(at: server)
            let other = try await api.newcomer("bob")
            let ticket = try await api.ticket(.somebody("bob"), bearer: person.accessToken)
            _ = try await api.merge(ticket, bearer: person.accessToken, survivor: "current")
            let events = try await server.acts {
                let answer = try await act.call(admin, on: other.uid)
                #expect((200..<300).contains(answer.status), "\(answer.text)")
            }
            let pseudonym = try await server.pseudonym(of: person.uid)
            #expect(events.map(\.account) == [pseudonym])
        }
    }

    @Test(arguments: Act.all + [Act.reveal])
    func `on an administrator's account it needs the right to grant`(act: Act) async throws {
        try await TestServer.administered(others: TestServer.photos) { server, admin in
            let api = admin.api
            let person = try await api.register(at: server)
            let uid = try #require(UUID(uuidString: person.uid))
            let other = try await api.newcomer("bob")
            let ticket = try await api.ticket(.somebody("bob"), bearer: person.accessToken)
            let merged = try await api.merge(ticket, bearer: person.accessToken, survivor: "current")
            let grants = AdminGrants(store: server.backend.store, home: try await server.application())
            try await grants.grant(
                .auditor, to: uid, on: server.application(named: "photos"), by: TestServer.operations)
            let events = try await server.audited {
                for name in [person.uid, other.uid] {
                    let refused = try await act.call(admin, on: name)
                    expectError(refused, 403, "FORBIDDEN", name)
                    #expect(refused["error"]["details"]["scope"] == "admins:write")
                }
            }
            #expect(events.map(\.event) == ["admin.refused", "admin.refused"])
            #expect(try await api.status(of: merged["accessToken"].string ?? "") == 200)
        }
    }

    @Test func `on an account that absorbed an administrator's it needs that right too`() async throws {
        try await TestServer.administered(others: TestServer.photos) { server, admin in
            let api = admin.api
            let person = try await api.register(at: server)
            let owner = try await api.newcomer("bob")
            let uids = try [person, owner].map { try #require(UUID(uuidString: $0.uid)) }
            let grants = AdminGrants(store: server.backend.store, home: try await server.application())
            try await grants.grant(.owner, to: uids[1], on: nil, by: TestServer.operations)
            let ticket = try await api.ticket(.somebody("bob"), bearer: person.accessToken)
            let merged = try await api.merge(ticket, bearer: person.accessToken, survivor: "current")
            let bearer = try #require(merged["accessToken"].string, "\(merged.text)")
            for act in Act.all + [Act.reveal] {
                for uid in [person.uid, owner.uid] {
                    let refused = try await act.call(admin, on: uid)
                    expectError(refused, 403, "FORBIDDEN", "\(act.path) \(uid)")
                    #expect(refused["error"]["details"]["scope"] == "admins:write")
                }
            }
            #expect(try await api.status(of: bearer) == 200)
            // The survivor has no role of its own, so no command to revoke it is named.
            try await grants.revoke(uids[0], on: server.application(named: "photos"), by: TestServer.operations)
            try await grants.revoke(uids[1], on: nil, by: TestServer.operations)
            #expect(try await admin.act("/disable", on: owner.uid).status == 200, "the role is gone")
        }
    }

    @Test func `a grant that comes after the check of the call still counts`() async throws {
        try await TestServer.administered { server, admin in
            let home = try await server.application()
            let person = try await admin.api.register(at: server)
            let uid = try #require(UUID(uuidString: person.uid))
            try await AdminGrants(store: server.backend.store, home: home)
                .grant(.auditor, to: uid, on: nil, by: TestServer.operations)
            for (grantsOn, isAllowed) in [([], false), ([home.id], false), ([nil], true)]
                as [(Set<Accounts.Application.ID?>, Bool)]
            {
                let caller = Administrator(
                    actor: TestServer.operations.actor, application: home, scopes: [.writeAccounts, .writeAdmins],
                    expiresAt: Date() + 60, person: .init(uid: UUID(), proofAge: .zero, grantsOn: grantsOn))
                let acts = server.acts.keepingOwners(of: home, for: caller)
                if isAllowed {
                    try await acts.setDisabled(true, uid: uid, by: TestServer.operations, in: home)
                } else {
                    await #expect(throws: AdministrationError.forbidden(.writeAdmins)) {
                        try await acts.setDisabled(true, uid: uid, by: TestServer.operations, in: home)
                    }
                    await #expect(throws: AdministrationError.forbidden(.writeAdmins)) {
                        try await server.recoveryLinks.make(
                            .show, for: uid, by: TestServer.operations, through: acts, in: home)
                    }
                }
            }
        }
    }

    @Test func `an account of another application is unknown`() async throws {
        try await TestServer.administered(others: TestServer.photos) { server, admin in
            let person = try await admin.api.register(at: server)
            let photos = try await AdminClient(server, of: "photos")
            expectError(try await photos.act("/disable", on: person.uid), 404, "ACCOUNT_NOT_FOUND")
            #expect(try await admin.api.status(of: person.accessToken) == 200)
        }
    }

    @Test func `the last owner of all applications can't be disabled or deleted`() async throws {
        try await TestServer.administered { server, admin in
            let home = try await server.application()
            let acts = server.acts.keepingOwners(of: home)
            let grants = AdminGrants(store: server.backend.store, home: home)
            let people = [try await admin.api.register(at: server), try await admin.api.register(at: server)]
            let uids = try people.map { try #require(UUID(uuidString: $0.uid)) }
            try await grants.grant(.owner, to: uids[0], on: nil, by: TestServer.operations)
            let refusals = try await server.audited {
                await #expect(throws: AdministrationError.lastOwner) {
                    try await acts.setDisabled(true, uid: uids[0], by: TestServer.operations, in: home)
                }
                await #expect(throws: AdministrationError.lastOwner) {
                    _ = try await acts.delete(uids[0], by: TestServer.operations, in: home)
                }
            }
            #expect(refusals == [])
            try await grants.grant(.owner, to: uids[1], on: nil, by: TestServer.operations)
            for _ in 0..<5 {
                // Of two owners who disable each other at the same time, one stays.
                let done = await withTaskGroup(of: Bool.self) { group in
                    for uid in uids {
                        group.addTask {
                            (try? await acts.setDisabled(true, uid: uid, by: TestServer.operations, in: home)) != nil
                        }
                    }
                    return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                #expect(done == 1)
                for uid in uids { try await acts.setDisabled(false, uid: uid, by: TestServer.operations, in: home) }
            }
        }
    }
}
