import Accounts
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Storage
import Testing
import Tokens

@testable import GatehouseServer

/// The export contains all data about a person, for that person.
struct ExportTests {
    private func uid(_ person: Person) throws -> UUID { try #require(UUID(uuidString: person.uid)) }

    private func export(_ person: Person, _ client: APIClient) async throws -> APIClient.Answer {
        let answer = try await client.get("/auth/account/export", bearer: person.accessToken)
        try #require(answer.status == 200, "\(answer.text)")
        return answer
    }

    @Test func `every table that has a column about an account is exported, or left out for a reason`() async throws {
        try await TestServer.with { server in
            let tables = try await ExportedTables.all(at: server)
            let exported = Set(ExportedTables.sections.keys)
            #expect(tables.subtracting(exported).subtracting(ExportedTables.leftOut.keys) == [])
            #expect(exported.subtracting(tables) == [])
            #expect(exported.isDisjoint(with: ExportedTables.leftOut.keys))
        }
    }

    @Test func `a row of each table is in its section of the export`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let seed = ExportSeed(uid: try uid(person))
            try await seed.plant(at: server)
            let answer = try await export(person, client)
            for (table, section) in ExportedTables.sections {
                let text = String(decoding: try JSONEncoder().encode(answer[section]), as: UTF8.self)
                #expect(text.contains(seed.expected(of: table)), "\(table) in \(section): \(text)")
            }
            #expect(answer["account"]["uid"].string == person.uid)
            #expect(answer["account"]["metadata"] == ["some_key": 1])
            #expect(answer["identities"].array?.contains { $0["profile"] == ["given_name": "Ada"] } == true)
            #expect(answer["aliases"].array?.map { $0["displayName"] } == ["the absorbed one"])
            #expect(answer["application"] == "demo")
        }
    }

    @Test func `every column of these is in it, or left out for a reason`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            try await ExportSeed(uid: try uid(person)).plant(at: server)
            let answer = try await export(person, client)
            for (table, section) in ExportedTables.sections {
                let leftOut = Set((ExportedTables.leftOutColumns[table] ?? [:]).keys)
                let columns = try await ExportedTables.columns(of: table, at: server)
                #expect(leftOut.subtracting(columns) == [], "\(table)")
                let row = answer[section].array?.first ?? answer[section]
                let missing = columns.subtracting(leftOut).filter { !row.keys.contains($0.camelCased) }
                #expect(missing == [], "\(table)")
            }
        }
    }

    @Test func `the export contains the person's redirect flows of every kind and no others`() async throws {
        try await TestServer.linking(application: ErasedTraces.application) { server, client in
            let person = try await client.newcomer("ada", email: "ada@example.com")
            let redirect = RedirectClient(api: client)
            #expect(try await redirect.signIn(.somebody("ada"))["user"]["id"].string == person.uid)
            _ = try await redirect.arrive(redirect.begin(), with: .somebody("ada"))
            _ = try await redirect.arrive(redirect.begin(), with: .somebody("new", email: "ada@example.com"))
            _ = try await redirect.arrive(redirect.begin(), with: .somebody("eve", email: "eve@example.com"))
            _ = try await redirect.begin()
            let linking = try await client.post(
                "/auth/identities/scripted/authorize",
                [
                    "redirect_uri": .string(redirect.redirectURI),
                    "code_challenge": .string(CodeChallenge.s256(of: redirect.verifier)),
                ], bearer: person.accessToken)
            #expect(linking.status == 200, "\(linking.text)")
            let flows = try #require(try await export(person, client)["redirectFlows"].array)
            #expect(flows.count == 4 && flows.allSatisfy { $0["provider"] == "scripted" })
            #expect(flows.filter { $0["holdsEvidence"] == true }.count == 2)
            #expect(flows.filter { $0["sessionId"] != .null && $0["redeemedAt"] != .null }.count == 1)
            let session = try DecodedToken(person.accessToken).claims["sid"]
            #expect(flows.filter { $0["linkingSession"] == session && $0["answeredAt"] == .null }.count == 1)
        }
    }

    @Test func `events name sessions as the list of sessions does`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let login = try Person(try await client.login(person.email), email: "", password: "")
            let answer = try await export(login, client)
            let names = Set((answer["sessions"].array ?? []).compactMap { $0["auditSession"].string })
            let events = Set((answer["auditEvents"].array ?? []).compactMap { $0["session"].string })
            #expect(names.count == 2 && events == names)
        }
    }

    @Test func `messages to the person are exported before and after they are sent`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let other = try await client.register(at: server)
            let change = try await client.put(
                "/auth/change-password", ["password": .string(APIClient.otherPassword)], bearer: person.accessToken)
            #expect(change.status == 204)
            _ = try await client.post("/auth/email/otp", ["email": .string(other.email)])
            // A code that this person requested for an address without an account.
            _ = try await client.post(
                "/auth/email/otp", ["email": .string(APIClient.newAddress())], bearer: person.accessToken)
            try await eventually("everything is sent") {
                try await server.count("SELECT count(*) FROM outbox WHERE sent_at IS NULL") == 0
            }
            // A message of an earlier version, which does not store its account.
            try await server.execute(
                """
                INSERT INTO outbox (application_id, id, topic, sealed, recipient, failed_at)
                VALUES ($1, gen_random_uuid(), 'registrationOfTakenAddress', 'x', $2, now())
                """,
                [
                    .application(try await server.application().id),
                    .bytes(server.backend.sealer.mark(of: person.email)),
                ])
            let messages = try #require(try await export(person, client)["messages"].array)
            #expect(
                Set(messages.compactMap { $0["topic"].string }) == [
                    "passwordChanged", "signInCode", "registrationOfTakenAddress",
                ])
            #expect(messages.filter { $0["sentAt"] != .null }.count == 2)
            #expect(messages.allSatisfy { $0["channel"] == "email" && $0["createdAt"].string != nil })
        }
    }

    @Test func `the export contains no secret and nothing derived from one`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let seed = ExportSeed(uid: try uid(person))
            try await seed.plant(at: server)
            let text = try await export(person, client).text
            let hash = try await server.text("SELECT encode(hash, 'hex') FROM refresh_tokens LIMIT 1")
            let key = try await server.text("SELECT encode(audit_key, 'hex') FROM accounts LIMIT 1")
            let secrets = [
                String(decoding: seed.secret, as: UTF8.self), seed.secret.hex, Data(seed.secret).base64EncodedString(),
                "argon2", person.accessToken, person.refreshToken, "hooks.example", try #require(hash),
                try #require(key),
            ]
            for secret in secrets { #expect(!text.contains(secret), "\(secret)") }
        }
    }

    @Test func `the export is a download that proxies do not store`() async throws {
        try await TestServer.linking { server, client in
            let answer = try await export(try await client.register(at: server), client)
            #expect(answer.headers.first(name: "content-disposition")?.hasPrefix("attachment; filename=") == true)
            #expect(answer.headers.first(name: "content-type") == "application/json; charset=utf-8")
            #expect(answer.headers.first(name: "cache-control") == "no-store")
            // The response is streamed, so its length is not known in advance.
            #expect(answer.headers.first(name: "content-length") == nil)
        }
    }

    @Test func `an export of several pages is complete, ordered and without duplicates`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            try await server.execute(
                """
                INSERT INTO audit_events (application_id, event, account)
                SELECT a.application_id, 'made-up ' || n, sha256(a.audit_key || uuid_send(a.uid))
                  FROM accounts a, generate_series(1, 1234) n
                """)
            try await server.execute(
                """
                INSERT INTO sessions (application_id, id, uid, identity_id, methods, expires_at)
                SELECT a.application_id, gen_random_uuid(), a.uid, gen_random_uuid(), '{}', now() + interval '1 hour'
                  FROM accounts a, generate_series(1, 567) n
                """)
            let answer = try await export(person, client)
            let events = try #require(answer["auditEvents"].array)
            #expect(Set(events.compactMap { $0["event"].string }).filter { $0.hasPrefix("made-up") }.count == 1234)
            #expect(Set(events.compactMap { $0["id"].string }).count == events.count)
            let sessions = try #require(answer["sessions"].array)
            #expect(sessions.count == 568 && Set(sessions.map { $0["id"].string }).count == 568)
        }
    }

    @Test func `an export needs recent authentication, has only the person's data, and is audited`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.register(at: server)
            let other = try await client.register(at: server)
            let text = try await export(person, client).text
            #expect(text.contains(person.email) && !text.contains(other.email) && !text.contains(other.uid))
            let last = try await server.audited().last
            let pseudonym = try await server.pseudonym(of: person.uid)
            #expect(last == .init(event: "account.exported", details: ["by": "owner"], account: pseudonym))
            #expect(try await client.get("/auth/account/export").code == "INVALID_TOKEN")
            let head = try await client.send(.HEAD, "/api/v1/auth/account/export", bearer: person.accessToken)
            #expect(head.status == 405)
            try await server.letPass(.seconds(301))
            let refreshed = try await client.refresh(person.refreshToken)
            let late = try await client.get("/auth/account/export", bearer: refreshed["accessToken"].string)
            expectError(late, 403, "TOKEN_TOO_OLD")
        }
    }

    @Test func `the export names the recipients of personal data`() async throws {
        let hook =
            "[{ url: \"https://hooks.example/x\", secret: \"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\", events: [account.created] }]"
        try await TestServer.with(webhooks: hook) { server in
            let client = APIClient(server)
            let answer = try await export(try await client.guest(), client)
            #expect(
                answer["recipients"] == [
                    ["name": "hooks.example", "kind": "webhook", "hosts": ["hooks.example"]]
                ])
            #expect(answer["webhookDeliveries"].array?.map { $0["kind"] } == ["account.created"])
        }
    }

    @Test func `the document describes it`() async throws {
        try await TestServer.with { server in
            let document = try await APIClient(server).send(.GET, "/openapi.json").json
            let answer = document["paths"]["/api/v1/auth/account/export"]["get"]["responses"]["200"]
            let schema = answer["content"]["application/json"]["schema"]["$ref"].string
            #expect(schema == "#/components/schemas/Export")
            let properties = document["components"]["schemas"]["Export"]["properties"].keys
            #expect(properties.isSuperset(of: ExportedTables.sections.values))
        }
    }
}

extension String {
    fileprivate var camelCased: String {
        let words = split(separator: "_")
        return words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
