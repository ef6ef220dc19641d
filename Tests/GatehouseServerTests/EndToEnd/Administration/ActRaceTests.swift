import Accounts
import Administration
import Foundation
import Postgres
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// Twenty callers that act on one account at the same time.
struct ActRaceTests {
    @Test(arguments: ["/disable", "/enable", "/delete", "/restore", "/require-password-change", "/sessions/end"])
    func `of the same act, each is answered alike and one is recorded`(path: String) async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            if path == "/enable" { _ = try await admin.act("/disable", on: person.uid) }
            if path == "/restore" { _ = try await admin.act("/delete", on: person.uid) }
            let events = try await server.acts {
                let answers = try await atOnce(20) { try await admin.act(path, on: person.uid) }
                #expect(answers.allSatisfy { (200..<300).contains($0.status) }, "\(answers.map(\.text))")
                if path == "/sessions/end" {
                    let ended = answers.compactMap { $0["ended"].integer }
                    let count = ended.reduce(0, +)
                    #expect(ended.count == 20 && count == 1)
                } else {
                    #expect(Set(answers.map(\.text)).count == 1)
                }
            }
            #expect(events.count == 1, "\(events)")
        }
    }

    @Test func `a statement of an act waits for no longer than the limit`() async throws {
        try await TestServer.with { server in
            let person = try await APIClient(server).register(at: server)
            let uid = try #require(UUID(uuidString: person.uid))
            let demo = try await server.application()
            let store = server.backend.store
            try await server.backend.database.transaction { transaction in
                _ = try await transaction.execute(
                    Statement(.write, "SELECT FROM accounts WHERE application_id = 1 AND uid = $1 FOR UPDATE"),
                    [.uuid(uid)])
                let refusal = await #expect(throws: AccountsError.self) {
                    try await store.retryingTransaction(within: .milliseconds(100)) { store in
                        _ = try await store.lockAccount(uid, application: demo.id)
                    }
                }
                // Not after the eight conflicts that waiting for locks would lead to.
                guard case .unavailable(let reason) = refusal else {
                    Issue.record("\(String(describing: refusal))")
                    return
                }
                #expect(reason != "rows changed repeatedly")
            }
        }
    }

    @Test func `disabling and enabling end in the state of the last event`() async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            let events = try await server.acts {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<20 {
                        group.addTask {
                            let path = number.isMultiple(of: 2) ? "/disable" : "/enable"
                            let answer = try await admin.act(path, on: person.uid)
                            #expect(answer.status == 200, "\(answer.text)")
                        }
                        group.addTask { _ = try await admin.api.login(person.email) }
                    }
                    try await group.waitForAll()
                }
            }
            // The account's lock orders the acts, and each event stands for a change.
            let isDisabled = try await server.count("SELECT count(*) FROM accounts WHERE disabled_at IS NOT NULL") == 1
            let counts = ["account.disabled", "account.enabled"].map { name in events.count { $0.event == name } }
            #expect(counts[0] == counts[1] + (isDisabled ? 1 : 0), "\(events)")
            if isDisabled { #expect(try await server.liveSessions(of: person.uid) == 0) }
        }
    }

    @Test func `of two identities that twenty callers remove, one stays`() async throws {
        try await TestServer.administered { server, admin in
            for _ in 0..<3 {
                let person = try await admin.api.newcomer()
                _ = try await admin.api.link(.somebody(), bearer: person.accessToken)
                let ids = try await admin.api.identities(bearer: person.accessToken).compactMap { $0["id"].string }
                #expect(ids.count == 2)
                let events = try await server.acts {
                    let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { group in
                        for number in 0..<20 {
                            group.addTask {
                                try await admin.act("/identities/\(ids[number % 2])/unlink", on: person.uid)
                            }
                        }
                        return try await group.reduce(into: [APIClient.Answer]()) { $0.append($1) }
                    }
                    let codes = answers.map { $0.status == 200 ? "ok" : $0.code ?? "" }
                    #expect(codes.filter { $0 == "ok" }.count == 1, "\(codes)")
                    #expect(Set(codes) == ["ok", "IDENTITY_NOT_FOUND", "LAST_USABLE_IDENTITY"])
                }
                #expect(events.map(\.event) == ["identity.unlinked"])
            }
        }
    }

    @Test func `of twenty notes none is lost, and every page is whole`() async throws {
        try await TestServer.administered { server, admin in
            let guest = try await admin.api.guest()
            let answers = try await withThrowingTaskGroup(of: APIClient.Answer.self) { group in
                for number in 0..<20 {
                    group.addTask { try await admin.act("/notes", on: guest.uid, ["text": .string("\(number)")]) }
                }
                return try await group.reduce(into: [APIClient.Answer]()) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.status == 201 })
            var (texts, cursor): ([String], String?) = ([], nil)
            repeat {
                let page = try await admin.get("/notes?limit=3" + (cursor.map { "&after=\($0)" } ?? ""), of: guest.uid)
                texts += (page["items"].array ?? []).compactMap { $0["text"].string }
                cursor = page["next"].string
            } while cursor != nil && texts.count <= 20
            #expect(texts.count == 20 && Set(texts) == Set((0..<20).map { "\($0)" }))
            #expect(try await server.audited().count { $0.event == "account.note-added" } == 20)
        }
    }

    @Test func `of twenty erasures each has the receipt, and one is recorded`() async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            let deleted = try await admin.act("/delete", on: person.uid)
            let events = try await server.acts {
                let answers = try await atOnce(20) {
                    try await admin.act("/erase", on: person.uid, ["confirm": .string("erase \(person.uid)")])
                }
                #expect(answers.allSatisfy { $0.status == 202 && $0["receipt"] == deleted["receipt"] })
            }
            #expect(events.count { $0.event == "purge.run" } == 1, "\(events)")
            try await eventually("it is erased") { try await server.accounts(person.uid) == 0 }
        }
    }

    @Test(arguments: ["/erase", "/restore"])
    func `what waits until another caller has ended the grace period changes nothing`(path: String) async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            _ = try await admin.act("/delete", on: person.uid)
            let uid = Bind.uuid(UUID(uuidString: person.uid))
            let events = try await server.acts {
                let answer = try await server.backend.database.transaction { transaction in
                    _ = try await transaction.execute(
                        Statement(.write, "SELECT FROM accounts WHERE application_id = 1 AND uid = $1 FOR UPDATE"),
                        [uid])
                    let answer = Task {
                        try await admin.act(path, on: person.uid, ["confirm": .string("erase \(person.uid)")])
                    }
                    try await server.awaitBlocked(1)
                    _ = try await transaction.execute(
                        Statement(
                            .write,
                            """
                            UPDATE accounts SET purge_after = statement_timestamp()
                             WHERE application_id = 1 AND uid = $1
                            """),
                        [uid])
                    return answer
                }
                #expect(try await answer.value.status == (path == "/erase" ? 202 : 409))
            }
            #expect(events.isEmpty, "\(events)")
        }
    }
}
