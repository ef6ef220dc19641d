import Accounts
import Administration
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// Notes of administrators about people.
struct AdminNoteTests {
    private let secret = "asked about the Marylebone parcel"

    @Test func `notes are listed newest first, page by page`() async throws {
        try await TestServer.administered { server, admin in
            let (person, other) = (try await admin.api.guest(), try await admin.api.guest())
            #expect(try await admin.get("/notes", of: person.uid).json == ["items": [], "next": .null])
            for number in 1...5 {
                let answer = try await admin.act("/notes", on: person.uid, ["text": .string("note \(number)")])
                #expect(answer.status == 201 && answer["text"].string == "note \(number)", "\(answer.text)")
                #expect(answer["actor"] == admin.actor && answer["reason"]["ticket"] == "T-1")
            }
            _ = try await admin.act("/notes", on: other.uid, ["text": "of another"])
            var (texts, cursor, pages): ([String], String?, Int) = ([], nil, 0)
            repeat {
                let page = try await admin.get("/notes?limit=2" + (cursor.map { "&after=\($0)" } ?? ""), of: person.uid)
                #expect(page.status == 200, "\(page.text)")
                texts += (page["items"].array ?? []).compactMap { $0["text"].string }
                if pages == 0 {
                    // A new note does not shift the next page.
                    _ = try await admin.act("/notes", on: person.uid, ["text": "late"])
                }
                (cursor, pages) = (page["next"].string, pages + 1)
            } while cursor != nil && pages < 9
            #expect(texts == (1...5).reversed().map { "note \($0)" })
            let first = try await admin.get("/notes?limit=1", of: person.uid)
            #expect(first["items"].array?.map { $0["text"] } == ["late"])
            let next = try #require(first["next"].string)
            for (query, uid) in [
                ("after=\(next)", other.uid), ("after=x", person.uid), ("after=\(next)a", person.uid),
                ("limit=0", person.uid), ("limit=201", person.uid), ("limit=x", person.uid),
            ] {
                expectError(try await admin.get("/notes?\(query)", of: uid), 400, "INVALID_PARAMETER", query)
            }
            for unknown in [UUID().uuidString, "x"] {
                expectError(try await admin.get("/notes", of: unknown), 404, "ACCOUNT_NOT_FOUND")
            }
        }
    }

    @Test func `a note is sealed, never in the audit, and in the person's export without its author`() async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            let events = try await server.acts {
                _ = try await admin.act("/notes", on: person.uid, ["text": .string(secret)])
            }
            #expect(events.map(\.event) == ["account.note-added"])
            #expect(events.first?.details == ["actor": admin.actor, "reason": APIClient.reason])
            let dump = try await server.dump()
            #expect(!dump.contains("Marylebone"))
            let export = try await admin.api.get("/auth/account/export", bearer: person.accessToken)
            let notes = export["adminNotes"].array ?? []
            #expect(notes.map { $0["text"].string } == [secret] && notes[0]["reason"] == APIClient.reason)
            #expect(!export.text.contains(admin.key.dropFirst(4).prefix(16)))
        }
    }

    @Test func `the note of a reason is stored with the account, once, and not in the audit`() async throws {
        try await TestServer.administered { server, admin in
            let person = try await admin.api.register(at: server)
            let reason: JSONValue = ["code": "abuse", "note": .string(secret)]
            for _ in 1...2 { #expect(try await admin.act("/disable", on: person.uid, reason: reason).status == 200) }
            #expect(try await admin.act("/delete", on: person.uid, reason: reason).status == 202)
            let notes = try await admin.get("/notes", of: person.uid)
            #expect(notes["items"].array?.map { $0["text"].string } == [secret, secret], "of the two that changed it")
            #expect(notes["items"].array?.first?["reason"] == ["code": "abuse"])
            let events = try await server.audited()
            #expect(!"\(events)".contains("Marylebone"))
            #expect(events.contains { $0.details["reason"] == ["code": "abuse"] })
        }
    }

    @Test func `a merged account's notes are the survivor's, and an erasure removes them`() async throws {
        try await TestServer.administered { server, admin in
            let api = admin.api
            let (person, other) = (try await api.newcomer("ada"), try await api.newcomer("bob"))
            _ = try await admin.act("/notes", on: person.uid, ["text": "of ada"])
            _ = try await admin.act("/notes", on: other.uid, ["text": "of bob"])
            let ticket = try await api.ticket(.somebody("bob"), bearer: person.accessToken)
            let merged = try await api.merge(ticket, bearer: person.accessToken, survivor: "current")
            #expect(merged.status == 200, "\(merged.text)")
            for uid in [person.uid, other.uid] {
                let notes = try await admin.get("/notes", of: uid)
                #expect(notes["items"].array?.map { $0["text"] } == ["of bob", "of ada"], "\(notes.text)")
            }
            _ = try await admin.act(
                "/delete", on: other.uid, reason: ["code": "fraud", "ticket": "T-77", "note": .string(secret)])
            #expect(try await server.rows(of: "admin_notes") == 3)
            #expect(try await server.erase(person.uid) == .erased(without: []))
            #expect(try await server.rows(of: "admin_notes") == 0)
            // The audit keeps the code and the ticket, under a pseudonym that nobody can link any more.
            #expect(try await server.audited().contains { $0.details["reason"]["ticket"] == "T-77" })
        }
    }

    @Test func `a text has a length, and needs the scopes`() async throws {
        try await TestServer.administered { server, admin in
            let guest = try await admin.api.guest()
            let long = String(repeating: "é", count: AdminNote.longest)
            #expect(try await admin.act("/notes", on: guest.uid, ["text": .string(long)]).status == 201)
            for wrong in ["", long + "é"] {
                let answer = try await admin.act("/notes", on: guest.uid, ["text": .string(wrong)])
                expectError(answer, 400, "INVALID_PARAMETER")
            }
            expectError(try await admin.act("/notes", on: guest.uid), 400, "MISSING_PARAMETER")
            let reader = try await AdminClient(server, [.readAccounts])
            for refused in [
                try await reader.get("/notes", of: guest.uid),
                try await reader.act("/notes", on: guest.uid, ["text": "x"]),
            ] {
                expectError(refused, 403, "FORBIDDEN")
                #expect(refused["error"]["details"]["scope"] == "accounts:write")
            }
        }
    }
}
