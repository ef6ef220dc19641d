import Accounts
import Administration
import Delivery
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Deleting, restoring, erasing and exporting accounts.
struct DeletionActTests {
    @Test func `a deleted account can be restored, and each act is recorded once`() async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            var receipts: [JSONValue] = []
            let deleted = try await server.acts {
                for _ in 1...2 {
                    let answer = try await admin.act("/delete", on: person.uid)
                    #expect(answer.status == 202 && answer.json.keys == ["receipt", "purgeAfter"], "\(answer.text)")
                    receipts.append(answer.json)
                }
            }
            #expect(receipts[0] == receipts[1])
            #expect(deleted.map(\.event) == ["account.deleted"])
            #expect(deleted.first?.details == ["actor": admin.actor, "reason": APIClient.reason, "by": "admin"])
            #expect(try await admin.api.login(person.email).code == "ACCOUNT_DELETED")
            #expect(try await admin.api.status(of: person.accessToken) == 401)
            let receipt = try #require(receipts[0]["receipt"].string)
            #expect(try await admin.api.get("/erasures/\(receipt)")["status"] == "scheduled")
            let restored = try await server.acts {
                for _ in 1...2 {
                    let answer = try await admin.act("/restore", on: person.uid)
                    #expect(answer.status == 200 && answer["status"] == "live", "\(answer.text)")
                    #expect(answer["purgeAfter"] == .null && answer["receipt"] == .null)
                }
            }
            #expect(restored.map(\.event) == ["account.restored"])
            #expect(restored.first?.details == ["actor": admin.actor, "reason": APIClient.reason])
            #expect(try await admin.api.get("/erasures/\(receipt)")["status"] == "restored")
            #expect(try await admin.api.login(person.email).status == 200)
        }
    }

    @Test func `a disabled account stays disabled when it is restored`() async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            #expect(try await admin.act("/disable", on: person.uid).status == 200)
            #expect(try await admin.act("/delete", on: person.uid).status == 202)
            let enabled = try await admin.act("/enable", on: person.uid)
            #expect(enabled["status"] == "deleted" && enabled["receipt"].string != nil, "\(enabled.text)")
            #expect(try await admin.act("/disable", on: person.uid)["status"] == "deleted")
            #expect(try await admin.act("/restore", on: person.uid)["status"] == "disabled")
        }
    }

    @Test func `after its grace period an account can't be restored`() async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            try await server.withoutScheduler {
                #expect(try await admin.act("/delete", on: person.uid).status == 202)
                try await server.makeDue()
                expectError(try await admin.act("/restore", on: person.uid), 409, "WRONG_STATE")
            }
        }
    }

    @Test func `an erasure needs the phrase and a deleted account, and is recorded once`() async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            let confirm: [String: JSONValue] = ["confirm": .string("erase \(person.uid)")]
            expectError(try await admin.act("/erase", on: person.uid, confirm), 409, "WRONG_STATE")
            let deleted = try await admin.act("/delete", on: person.uid)
            for wrong: [String: JSONValue] in [
                [:], ["confirm": "erase"], ["confirm": .string("erase \(person.uid) ")],
                ["confirm": .string("erase \(UUID())")], ["confirm": .string("ERASE \(person.uid)")],
            ] {
                let answer = try await admin.act("/erase", on: person.uid, wrong)
                expectError(answer, 409, "CONFIRMATION_REQUIRED", "\(wrong)")
            }
            expectError(
                try await admin.act("/erase", on: UUID().uuidString, ["confirm": "x"]), 404, "ACCOUNT_NOT_FOUND")
            let events = try await server.acts {
                try await server.withoutScheduler {
                    for _ in 1...2 {
                        let answer = try await admin.act("/erase", on: person.uid, confirm)
                        #expect(answer.status == 202, "\(answer.text)")
                        #expect(answer.json == ["receipt": deleted["receipt"], "waitingFor": []])
                    }
                    expectError(try await admin.act("/restore", on: person.uid), 409, "WRONG_STATE")
                }
            }
            #expect(events.map(\.event) == ["purge.run"])
            #expect(events.first?.details == ["actor": admin.actor, "reason": APIClient.reason, "now": true])
            try await eventually("it is erased") { try await server.accounts(person.uid) == 0 }
            let again = try await admin.act("/erase", on: person.uid, confirm)
            #expect(again.status == 202 && again["receipt"] == deleted["receipt"], "\(again.text)")
            for path in ["/disable", "/delete", "/restore", "/notes"] {
                expectError(
                    try await admin.act(path, on: person.uid, ["text": "x"]), 404, "ACCOUNT_NOT_FOUND", path)
            }
        }
    }

    @Test func `an erasure says which webhooks it waits for`() async throws {
        try await WebhookSink.with({ _, _ in .status(500) }) { sink in
            try await TestServer.with(
                webhooks: "[\(sink.entry("account.deleted"))]", admin: AdminClient.section
            ) { server in
                let admin = try await AdminClient(server)
                let person = try await admin.api.register(at: server)
                _ = try await admin.act("/delete", on: person.uid)
                let answer = try await admin.act(
                    "/erase", on: person.uid, ["confirm": .string("erase \(person.uid)")])
                #expect(answer.status == 202 && answer["waitingFor"] == ["127.0.0.1"], "\(answer.text)")
                #expect(try await server.accounts(person.uid) == 1)
            }
        }
    }

    @Test func `an export is the person's own, and they are told unless the law forbids`() async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            let confirm: [String: JSONValue] = ["confirm": .string("export \(person.uid)")]
            for wrong: [String: JSONValue] in [[:], ["confirm": .string("erase \(person.uid)")]] {
                let answer = try await admin.act("/export", on: person.uid, wrong)
                expectError(answer, 409, "CONFIRMATION_REQUIRED")
            }
            let legal = try await admin.act("/export", on: person.uid, confirm, reason: ["code": "legal"])
            #expect(legal.status == 200, "\(legal.text)")
            #expect(try await server.count("SELECT count(*) FROM outbox WHERE topic = 'accountExported'") == 0)
            var answer = legal
            let events = try await server.acts {
                answer = try await admin.act("/export", on: person.uid, confirm)
            }
            #expect(events.map(\.event) == ["account.exported"])
            #expect(events.first?.details == ["actor": admin.actor, "reason": APIClient.reason, "by": "admin"])
            #expect(answer.headers.first(name: "content-disposition")?.contains(person.uid) == true)
            #expect(answer.headers.first(name: "cache-control") == "no-store")
            let own = try await admin.api.get("/auth/account/export", bearer: person.accessToken)
            #expect(answer.json.keys == own.json.keys && answer["identities"] == own["identities"])
            try await eventually("the person is told") {
                server.inbox.messages().contains {
                    $0.to == person.email && $0.subject?.contains("exported") == true
                }
            }
            // The person sees that an administrator did it, and why, but not who.
            let seen = own["auditEvents"].array?.filter { $0["event"] == "account.exported" } ?? []
            #expect(seen.count == 3, "two by administrators, and this one")
            #expect(seen.filter { $0["details"]["actor"] == "an administrator" }.count == 2, "\(seen)")
            #expect(seen.contains { $0["details"]["reason"]["ticket"] == "T-1" })
            #expect(!own.text.contains(admin.key.dropFirst(4).prefix(16)))
        }
    }

    @Test func `exports have a limit, by administrator`() async throws {
        try await TestServer.with(rateLimits: "{ adminExport: 1/h }", admin: AdminClient.section) { server in
            let admin = try await AdminClient(server)
            let guest = try await admin.api.guest()
            let confirm: [String: JSONValue] = ["confirm": .string("export \(guest.uid)")]
            #expect(try await admin.act("/export", on: guest.uid, confirm).status == 200)
            expectError(try await admin.act("/export", on: guest.uid, confirm), 429, "RATE_LIMITED")
            let other = try await AdminClient(server)
            #expect(try await other.act("/export", on: guest.uid, confirm).status == 200)
        }
    }
}
