import Accounts
import Administration
import Delivery
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Acts on accounts that are not about their deletion.
struct AccountActTests {
    @Test func `a disabled account is shut out until it is enabled, and each act is recorded once`() async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            let pseudonym = try await server.pseudonym(of: person.uid)
            let disabled = try await server.acts {
                for _ in 1...2 {
                    let answer = try await admin.act("/disable", on: person.uid)
                    #expect(answer.status == 200 && answer["status"] == "disabled", "\(answer.text)")
                    #expect(answer["uid"].string == person.uid && answer["disabledAt"].string != nil)
                    #expect(answer["disabledUntil"] == .null)
                }
            }
            let details: JSONValue = ["actor": admin.actor, "reason": APIClient.reason]
            #expect(disabled == [.init(event: "account.disabled", details: details, account: pseudonym)])
            #expect(try await admin.api.status(of: person.accessToken) == 401)
            #expect(try await admin.api.login(person.email).code == "ACCOUNT_DISABLED")
            let enabled = try await server.acts {
                for _ in 1...2 {
                    let answer = try await admin.act("/enable", on: person.uid)
                    #expect(answer.status == 200 && answer["status"] == "live", "\(answer.text)")
                    #expect(answer["disabledAt"] == .null)
                }
            }
            #expect(enabled == [.init(event: "account.enabled", details: details, account: pseudonym)])
            #expect(try await admin.api.login(person.email).status == 200)
        }
    }

    @Test func `an account that is disabled until a time is enabled by itself`() async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            let (far, near) = ("2099-01-02T03:04:05.000Z", Date(timeIntervalSinceNow: 2))
            let first = try await admin.act("/disable", on: person.uid, ["until": .string(far)])
            #expect(first["disabledUntil"].string == far, "\(first.text)")
            let changed = try await server.acts {
                let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
                let sooner = try await admin.act(
                    "/disable", on: person.uid, ["until": .string(near.formatted(format))])
                #expect(sooner.status == 200 && sooner["disabledUntil"].string != far, "\(sooner.text)")
            }
            #expect(changed.map(\.event) == ["account.disabled"])
            #expect(changed.first?.details["until"].string?.hasSuffix("Z") == true)
            try await eventually("it is enabled") { try await admin.api.login(person.email).status == 200 }
            let last = try #require(try await server.audited().last { $0.event == "account.enabled" })
            let pseudonym = try await server.pseudonym(of: person.uid)
            #expect(last.details == ["by": "until"] && last.account == pseudonym)
            #expect(try await server.count("SELECT count(*) FROM accounts WHERE disabled_until IS NOT NULL") == 0)
        }
    }

    @Test(arguments: ["2001-01-01T00:00:00Z", "tomorrow", "2099-01-01", "2099-13-01T00:00:00Z"])
    func `a time that is over or none is refused`(until: String) async throws {
        try await TestServer.administered { server, admin in
            let guest = try await admin.api.guest()
            let answer = try await admin.act("/disable", on: guest.uid, ["until": .string(until)])
            expectError(answer, 400, "INVALID_PARAMETER")
            #expect(try await admin.api.status(of: guest.accessToken) == 200)
        }
    }

    @Test func `the profile changes, and the audit says only what`() async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            let body: [String: JSONValue] = ["displayName": "Ada Lovelace", "metadata": ["city": "London"]]
            let events = try await server.acts {
                for _ in 1...2 {
                    let answer = try await admin.act("", on: person.uid, body, method: .PATCH)
                    #expect(answer.status == 200 && answer["uid"].string == person.uid, "\(answer.text)")
                }
                #expect(try await admin.act("", on: person.uid, method: .PATCH).status == 200, "nothing to change")
            }
            #expect(events.map(\.event) == ["account.profile-changed"])
            #expect(events.first?.details["changed"] == ["displayName", "metadata"])
            #expect(!"\(events)".contains("Ada") && !"\(events)".contains("London"))
            let me = try await admin.api.get("/auth/me", bearer: person.accessToken)
            #expect(me["displayName"] == "Ada Lovelace" && me["metadata"] == ["city": "London"])
            for wrong: [String: JSONValue] in [["displayName": ""], ["metadata": "x"], ["displayName": 1]] {
                let answer = try await admin.act("", on: person.uid, wrong, method: .PATCH)
                expectError(answer, 400, "INVALID_PARAMETER", "\(wrong)")
            }
        }
    }

    @Test func `roles and claims change with their own scope`() async throws {
        try await TestServer.administered(application: "roles: [editor]") { server, admin in
            let person = try await admin.api.register(at: server)
            let body: [String: JSONValue] = ["roles": ["editor"], "claims": ["plan": "pro"], "endSessions": true]
            let events = try await server.acts {
                for _ in 1...2 {
                    let answer = try await admin.act("/access", on: person.uid, body, method: .PUT)
                    #expect(answer.status == 200 && answer["roles"] == ["editor"], "\(answer.text)")
                    #expect(answer["claims"] == ["plan": "pro"])
                }
            }
            #expect(events.map(\.event) == ["account.access-changed"])
            #expect(events.first?.details["actor"] == admin.actor)
            #expect(events.first?.details["reason"] == APIClient.reason)
            #expect(try await admin.api.status(of: person.accessToken) == 401, "the sessions have ended")
            for wrong: [String: JSONValue] in [["roles": ["king"]], ["claims": []], ["claims": ["a": [[[[1]]]]]]] {
                let answer = try await admin.act("/access", on: person.uid, wrong, method: .PUT)
                expectError(answer, 400, "INVALID_PARAMETER", "\(wrong)")
            }
            let support = try await AdminClient(server, [.readAccounts, .writeAccounts])
            let refused = try await support.act("/access", on: person.uid, body, method: .PUT)
            expectError(refused, 403, "FORBIDDEN")
            #expect(refused["error"]["details"]["scope"] == "accounts:access")
        }
    }

    @Test func `a new password is asked for`() async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            let events = try await server.acts {
                for _ in 1...2 {
                    let answer = try await admin.act("/require-password-change", on: person.uid)
                    #expect(answer.status == 204, "\(answer.text)")
                }
            }
            #expect(events.map(\.event) == ["password.change-required"])
            #expect(events.first?.details == ["actor": admin.actor, "reason": APIClient.reason])
            #expect(try await admin.api.login(person.email)["shouldChangePassword"] == true)
            let guest = try await admin.api.guest()
            expectError(try await admin.act("/require-password-change", on: guest.uid), 409, "WRONG_STATE")
        }
    }

    @Test func `some sessions end, or all, and none of other accounts`() async throws {
        try await TestServer.administered { server, admin in
            let api = admin.api
            let (person, other) = (try await api.register(at: server), try await api.register(at: server))
            let second = try Person(try await api.login(person.email), email: person.email, password: "")
            let ids = try [second, other].map { try DecodedToken($0.accessToken).claims["sid"] }
            let some = try await server.audited {
                let answer = try await admin.act(
                    "/sessions/end", on: person.uid, ["sessions": .array(ids + [.string(UUID().uuidString)])])
                #expect(answer.status == 200 && answer.json == ["ended": 1], "\(answer.text)")
            }
            #expect(some.map(\.event).sorted() == ["session.ended", "sessions.ended"])
            let act = some.first { $0.event == "sessions.ended" }
            #expect(act?.details == ["actor": admin.actor, "reason": APIClient.reason, "sessions": 1])
            let ended = some.first { $0.event == "session.ended" }
            #expect(ended?.details["reason"] == "administrator")
            #expect(try await api.status(of: second.accessToken) == 401)
            #expect(try await api.status(of: person.accessToken) == 200)
            #expect(try await api.status(of: other.accessToken) == 200)
            _ = try await api.login(person.email)
            #expect(try await admin.act("/sessions/end", on: person.uid).json == ["ended": 2])
            let none = try await server.audited {
                let answer = try await admin.act("/sessions/end", on: person.uid)
                #expect(answer.json == ["ended": 0])
            }
            #expect(none == [])
            expectError(try await api.refresh(person.refreshToken), 401, "INVALID_REFRESH_TOKEN")
            let many = (0...AccountActs.mostSessions).map { _ in JSONValue.string(UUID().uuidString) }
            expectError(
                try await admin.act("/sessions/end", on: person.uid, ["sessions": .array(many)]), 400,
                "INVALID_PARAMETER")
        }
    }

    @Test func `an identity is removed, and the owner is told at its address too`() async throws {
        try await TestServer.administered { server, admin in
            let (api, phone) = (admin.api, "+33612345678")
            let person = try await api.register(at: server)
            let code = try await api.challenge("phone", phone, at: server, bearer: person.accessToken)
            let linked = try await api.post("/auth/identities/phone", .object(code), bearer: person.accessToken)
            #expect(linked.status == 200, "\(linked.text)")
            let id = try await api.identityID(of: "phone", bearer: person.accessToken)
            let events = try await server.acts {
                let answer = try await admin.act("/identities/\(id)/unlink", on: person.uid)
                #expect(answer.status == 200 && answer["uid"].string == person.uid, "\(answer.text)")
            }
            #expect(events.map(\.event) == ["identity.unlinked"])
            let details: JSONValue = ["actor": admin.actor, "reason": APIClient.reason, "provider": "phone"]
            #expect(events.first?.details == details)
            for address in [person.email, phone] {
                try await eventually("\(address) is told") {
                    try await server.count("SELECT count(*) FROM outbox WHERE topic = 'identityRemoved'") == 2
                        && server.inbox.messages().contains { $0.to == address }
                }
            }
            let left = try await api.identities(bearer: person.accessToken).compactMap { $0["provider"].string }
            #expect(left == ["email"])
            expectError(
                try await admin.act("/identities/\(id)/unlink", on: person.uid), 404, "IDENTITY_NOT_FOUND")
        }
    }

    @Test func `the last usable identity stays, by the rule of the person's own unlinking`() async throws {
        try await TestServer.with(
            providers: "scripted: {}\nother: { kind: scripted, mode: linkOnly }", admin: AdminClient.section
        ) { server in
            let admin = try await AdminClient(server)
            let person = try await admin.api.newcomer("ada")
            let only = try await admin.api.identityID(of: "scripted", bearer: person.accessToken)
            let alone = try await admin.act("/identities/\(only)/unlink", on: person.uid)
            expectRefusal(alone, 409, "LAST_USABLE_IDENTITY", rule: "identity.last-usable")
            let link = try await admin.api.link(.somebody("bob"), bearer: person.accessToken, provider: "other")
            #expect(link.status == 200)
            let refused = try await admin.act("/identities/\(only)/unlink", on: person.uid)
            expectRefusal(refused, 409, "LAST_USABLE_IDENTITY", rule: "identity.last-usable")
            #expect(try await admin.api.identities(bearer: person.accessToken).count == 2)
            let other = try await admin.api.identityID(of: "other", bearer: person.accessToken)
            #expect(try await admin.act("/identities/\(other)/unlink", on: person.uid).status == 200)
            let eve = try await admin.api.newcomer("eve")
            for foreign in [only, UUID().uuidString, "x"] {
                expectError(
                    try await admin.act("/identities/\(foreign)/unlink", on: eve.uid), 404, "IDENTITY_NOT_FOUND")
            }
        }
    }

    @Test func `an intruder's identity is removed although the owner's is quarantined`() async throws {
        try await TestServer.with(providers: "scripted: {}", admin: AdminClient.section) { server in
            let admin = try await AdminClient(server)
            let (person, _) = try await admin.api.victim(at: server, of: "ada")
            #expect(try await admin.api.resetPassword(of: person.email, at: server).status == 204)
            try expectQuarantined(try await admin.api.present(.somebody("ada"), to: "scripted"))
            let email = try await admin.api.identityID(of: "email", bearer: try await admin.api.bearer(of: person))
            #expect(try await admin.act("/identities/\(email)/unlink", on: person.uid).status == 200)
            let owner = try await admin.api.present(.somebody("ada"), to: "scripted")
            #expect(owner["user"]["id"].string == person.uid, "\(owner.text)")
        }
    }
}
