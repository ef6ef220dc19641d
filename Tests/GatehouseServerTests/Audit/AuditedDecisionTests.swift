import Accounts
import Administration
import Foundation
import HTTPAPI
import ProviderKit
import Testing

@testable import GatehouseServer

/// Every decision about a proof and every action of an administrator is in the audit; events about unknown people name
/// no account.
struct AuditedDecisionTests {
    private func event(_ name: String, _ details: JSONValue = [:], _ account: [UInt8]?) -> TestServer.Audited {
        TestServer.Audited(event: name, details: details, account: account)
    }

    /// Expects these counts of refusals that concern no account.
    private func expectCounted(
        _ audited: [TestServer.Audited], _ expected: [(route: String, refusals: JSONValue)],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(audited.count == expected.count, "\(audited)", sourceLocation: sourceLocation)
        for (route, refusals) in expected {
            let found = audited.first { $0.details["route"].string == "/api/v1/auth/\(route)" }
            #expect(
                found?.event == "sign-in.refused" && found?.account == nil, "\(route)", sourceLocation: sourceLocation)
            #expect(found?.details["refusals"] == refusals, "\(route)", sourceLocation: sourceLocation)
            #expect(found?.details["network"].string?.count == 64, "\(route)", sourceLocation: sourceLocation)
        }
    }

    @Test func `a wrong password, for a known and an unknown address`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let pseudonym = try await server.pseudonym(of: person.uid)
            let wrong: JSONValue = ["provider": "email", "reason": "password"]
            let known = try await server.audited { _ = try await client.login(person.email, "a wrong one") }
            #expect(known == [event("sign-in.refused", wrong, pseudonym)])
            let unknown = try await server.audited {
                _ = try await client.login(APIClient.newAddress(), "a wrong one")
            }
            expectCounted(unknown, [("login", ["password": 1])])
        }
    }

    @Test func `a lock`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let pseudonym = try await server.pseudonym(of: person.uid)
            let all = try await server.audited {
                for _ in 1...11 { _ = try await client.login(person.email, "a wrong one") }
            }
            #expect(all.filter { $0.event == "sign-in.refused" && $0.account == pseudonym }.count == 10)
            #expect(
                all.filter { $0.event == "identity.locked" } == [
                    event("identity.locked", ["provider": "email", "reason": "password"], pseudonym)
                ])
            expectCounted(all.filter { $0.account == nil }, [("login", ["IDENTITY_TEMPORARILY_LOCKED": 1])])
        }
    }

    @Test func `a wrong code, for a known and an unknown address`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let pseudonym = try await server.pseudonym(of: person.uid)
            for address in [person.email, APIClient.newAddress()] {
                let asked = try await client.post("/auth/email/otp", ["email": .string(address)])
                let all = try await server.audited {
                    _ = try await client.post(
                        "/auth/email/otp/verify", ["challengeId": asked["challengeId"], "code": "x"])
                }
                if address == person.email {
                    #expect(all == [event("sign-in.refused", ["provider": "email", "reason": "code"], pseudonym)])
                } else {
                    expectCounted(all, [("email/otp/verify", ["code": 1])])
                }
            }
            let none = try await server.audited {
                _ = try await client.post(
                    "/auth/email/otp/verify", ["challengeId": .string(UUID().uuidString), "code": "000000"])
            }
            expectCounted(none, [("email/otp/verify", ["code": 1])])
        }
    }

    @Test func `a closed account`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let scripted = try await client.newcomer("subject")
            let pseudonyms = [
                try await server.pseudonym(of: person.uid), try await server.pseudonym(of: scripted.uid),
            ]
            try await server.setDisabled(true, person)
            try await server.setDisabled(true, scripted)
            let disabled = try await server.audited {
                _ = try await client.login(person.email)
                _ = try await client.present(.somebody("subject"), to: "scripted")
            }
            #expect(
                disabled == [
                    event("sign-in.refused", ["provider": "email", "rule": "account.disabled"], pseudonyms[0]),
                    event("sign-in.refused", ["provider": "scripted", "rule": "account.disabled"], pseudonyms[1]),
                ])
            try await server.setDisabled(false, person)
            try await server.setDisabled(false, scripted)
            for uid in [person.uid, scripted.uid] {
                let id = try #require(UUID(uuidString: uid))
                _ = try await server.acts.delete(id, by: TestServer.operations, in: server.application())
            }
            let deleted = try await server.audited {
                _ = try await client.login(person.email)
                _ = try await client.present(.somebody("subject"), to: "scripted")
            }
            #expect(
                deleted == [
                    event("sign-in.refused", ["provider": "email", "rule": "account.deleted"], pseudonyms[0]),
                    event("sign-in.refused", ["provider": "scripted", "rule": "account.deleted"], pseudonyms[1]),
                ])
        }
    }

    @Test func `a reset and a restoration of a disabled account`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let refused = event(
                "sign-in.refused", ["provider": "email", "rule": "account.disabled"],
                try await server.pseudonym(of: person.uid))
            let token = try await client.forget(at: server, person.email)
            try await server.setDisabled(true, person)
            let reset = try await server.audited {
                expectError(try await client.reset(token, to: APIClient.otherPassword), 403, "ACCOUNT_DISABLED")
            }
            #expect(reset == [refused])
            try await server.setDisabled(false, person)
            // The refused reset used up the token.
            expectError(try await client.reset(token, to: APIClient.otherPassword), 401, "INVALID_TOKEN")

            let login = try await client.login(person.email)
            try await client.deleteAccount(Person(login, email: person.email, password: ""))
            let offered = try await client.login(person.email)["error"]["details"]["restoreToken"]
            try await server.setDisabled(true, person)
            let restoration = try await server.audited {
                let answer = try await client.post("/auth/account/restore", ["restoreToken": offered])
                expectError(answer, 403, "ACCOUNT_DISABLED")
            }
            #expect(restoration == [refused])
            try await server.setDisabled(false, person)
            expectError(
                try await client.post("/auth/account/restore", ["restoreToken": offered]), 401, "INVALID_TOKEN")
            let again = try await client.login(person.email)["error"]["details"]["restoreToken"]
            #expect(try await client.post("/auth/account/restore", ["restoreToken": again]).status == 200)
        }
    }

    @Test func `a conflict, and a last identity`() async throws {
        try await TestServer.linking { server, client in
            let owner = try await client.newcomer("taken")
            let other = try await client.newcomer("other")
            let pseudonym = try await server.pseudonym(of: other.uid)
            let conflict = try await server.audited {
                _ = try await client.ticket(.somebody("taken"), bearer: other.accessToken)
            }
            #expect(
                conflict == [
                    event("sign-in.refused", ["provider": "scripted", "rule": "identity.in-use"], pseudonym)
                ])
            let foreign = try await server.audited {
                _ = try await client.reauthenticate(.somebody("taken"), bearer: other.accessToken)
            }
            #expect(
                foreign == [
                    event(
                        "sign-in.refused",
                        [
                            "route": "/api/v1/auth/reauthenticate", "code": "INVALID_CREDENTIALS",
                            "rule": "reauthentication.foreign",
                        ], pseudonym)
                ])
            _ = owner
        }
    }

    @Test func `a link that a page refuses, to the account that is signed in or joined`() async throws {
        let application = RelyingParty.configuration + "\nlinking: { maximumIdentities: 1 }"
        try await TestServer.with(application: application, providers: "scripted: { enabled: true }") { server in
            let person = try await APIClient(server).register(at: server)
            let full = event(
                "sign-in.refused",
                [
                    "route": "/signin/{request}", "code": "LIMIT_REACHED", "rule": "account.full",
                    "provider": "scripted",
                ], try await server.pseudonym(of: person.uid))
            var visitor = try await LinkingBrowser(of: person, at: server)
            let link = try await visitor.add("scripted")
            let linked = try await server.audited {
                let refused = try await visitor.browser.present(.somebody(), at: link)
                #expect(refused.problem == "LIMIT_REACHED", "\(refused.text)")
            }
            #expect(linked.filter { $0 == full }.count == 1, "\(linked)")
            var browser = PageBrowser(server)
            let asked = try await browser.present(.somebody(), at: browser.begin(RelyingParty(server)))
            let signIn = try await browser.submit("link", of: asked)
            let joined = try await server.audited {
                let refused = try await browser.signIn(person, at: signIn)
                #expect(refused.problem == "LIMIT_REACHED", "\(refused.text)")
            }
            #expect(joined.filter { $0 == full }.count == 1, "\(joined)")
        }
    }

    @Test func `malformed proofs`() async throws {
        try await TestServer.linking { server, client in
            let all = try await server.audited {
                _ = try await client.refresh("nonsense")
                _ = try await client.verify("nonsense")
                _ = try await client.reset("nonsense", to: APIClient.otherPassword)
                _ = try await client.post("/auth/account/restore", ["restoreToken": "nonsense"])
            }
            let codes = ["INVALID_REFRESH_TOKEN", "INVALID_TOKEN", "INVALID_TOKEN", "INVALID_TOKEN"]
            let routes = ["refresh", "verify-email", "reset-password", "account/restore"]
            expectCounted(all, zip(codes, routes).map { code, route in (route, .object([code: 1])) })
            let forbidden = try await server.audited {
                _ = try await client.post("/auth/apple", ["identityToken": "x.y.z"])
            }
            expectCounted(forbidden, [("apple", ["provider.off": 1])])
        }
    }

    @Test func `a malformed bearer causes no event`() async throws {
        try await TestServer.with { server in
            let all = try await server.audited {
                let status = try await APIClient(server).status(of: "nonsense")
                #expect(status == 401)
            }
            #expect(all == [])
        }
    }

    @Test func `a session that is too old for the call`() async throws {
        try await TestServer.with(application: "recentAuthentication: 0") { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            try await eventually("the authentication is a second old") {
                try await client.get("/auth/account/export", bearer: person.accessToken).code == "TOKEN_TOO_OLD"
            }
            let last = try await server.audited().last
            let pseudonym = try await server.pseudonym(of: person.uid)
            let tooOld: JSONValue = ["route": "/api/v1/auth/account/export", "code": "TOKEN_TOO_OLD"]
            #expect(last == event("sign-in.refused", tooOld, pseudonym))
        }
    }

    @Test func `actions of administrators are audited`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let pseudonym = try await server.pseudonym(of: person.uid)
            let uid = try #require(UUID(uuidString: person.uid))
            let application = try await server.application()
            let all = try await server.audited {
                try await server.setDisabled(true, person)
                try await server.setDisabled(false, person)
                // The second call finds everything as it is.
                for _ in 1...2 {
                    let hasPassword = try await server.acts.requirePasswordChange(
                        uid: uid, by: TestServer.operations, in: application)
                    #expect(hasPassword)
                }
                for _ in 1...2 { _ = try await server.acts.delete(uid, by: TestServer.operations, in: application) }
            }
            #expect(
                all.map(\.event).filter { $0 != "session.ended" } == [
                    "account.disabled", "account.enabled", "password.change-required", "account.deleted",
                ])
            #expect(all.allSatisfy { $0.account == pseudonym })
            let acts = all.filter { $0.event != "session.ended" }
            #expect(acts.allSatisfy { $0.details["actor"] == ["cli": "gate.example"] })
            let guest = try await client.guest()
            let none = try await server.audited {
                let id = try #require(UUID(uuidString: guest.uid))
                let hasPassword = try await server.acts.requirePasswordChange(
                    uid: id, by: TestServer.operations, in: application)
                #expect(!hasPassword)
            }
            #expect(none == [])
        }
    }

    @Test func `a new password`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let all = try await server.audited {
                let changed = try await client.put(
                    "/auth/change-password", ["password": .string(APIClient.otherPassword)],
                    bearer: person.accessToken)
                #expect(changed.status == 204)
            }
            let pseudonym = try await server.pseudonym(of: person.uid)
            #expect(all == [event("password.set", ["provider": "email"], pseudonym)])
        }
    }
}
