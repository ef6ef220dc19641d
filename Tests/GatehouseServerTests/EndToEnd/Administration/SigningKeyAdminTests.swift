import Accounts
import Administration
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Storage
import Testing
import Tokens

@testable import GatehouseServer

/// Signing keys as administrators see them, rotate them and retire them.
struct SigningKeyAdminTests {
    @Test func `a rotation signs with a new key, and tokens of the old one count`() async throws {
        try await TestServer.with(application: RelyingParty.configuration, admin: OperatorClient.admin) { server in
            let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
            let before = try await admin.keys()
            #expect(Set(before.map(\.purpose)) == ["accessTokens", "identityTokens", "erasures"])
            #expect(before.allSatisfy { $0.state == "signing" })
            let guest = try await api.guest()
            let answer = try await admin.act("/keys/rotate")
            #expect(answer.status == 200 && !answer.text.lowercased().contains("private"), "\(answer.text)")
            let after = try await admin.keys()
            for purpose in ["accessTokens", "identityTokens"] {
                let keys = after.filter { $0.purpose == purpose }
                #expect(keys.map(\.state) == ["signing", "published"], "\(purpose)")
                #expect(keys.last?.kid == before.first { $0.purpose == purpose }?.kid)
            }
            #expect(try await api.get("/auth/me", bearer: guest.accessToken).status == 200)
            let events = try await server.audited().filter { $0.event == "keys.rotated" }
            #expect(events.count == 1 && events.first?.details.keys == ["actor", "reason"])
            expectError(try await admin.ask("/keys/rotate"), 400, "MISSING_PARAMETER")
        }
    }

    @Test func `of twenty rotations at once each that changes a key is one event`() async throws {
        try await TestServer.with(admin: OperatorClient.admin) { server in
            let admin = try await OperatorClient.of(server)
            let answers = try await atOnce(20) { try await admin.act("/keys/rotate") }
            #expect(answers.contains { $0.status == 200 })
            #expect(answers.allSatisfy { [200, 503].contains($0.status) }, "\(answers.map(\.text))")
            let keys = try await admin.keys().filter { $0.purpose == "accessTokens" }
            #expect(keys.count { $0.state == "signing" } == 1)
            let events = try await server.audited().filter { $0.event == "keys.rotated" }
            #expect(events.count == keys.count - 1)
            // Calls that waited for their turn have all seen the same key.
            let (ring, application) = (server.backend.keys, try await server.application())
            let seen = try await ring.signingKey(of: application)
            for _ in 1...2 { try await ring.rotate(application, replacing: seen, recording: AuditEntry(.keysRotated)) }
            #expect(try await ring.signingKey(of: application) != seen)
            #expect(try await server.audited().count { $0.event == "keys.rotated" } == events.count + 1)
        }
    }

    @Test func `tokens of a retired key are refused at every replica within two seconds`() async throws {
        try await TestServer.with(admin: OperatorClient.admin) { first in
            let (api, admin) = (APIClient(first), try await OperatorClient.of(first))
            try await TestServer.with(database: first.databaseURL, admin: OperatorClient.admin) { second in
                let other = APIClient(second)
                let person = try await api.guest()
                let old = try #require(try await admin.keys().first { $0.purpose == "accessTokens" }?.kid)
                #expect(try await admin.act("/keys/rotate").status == 200)
                #expect(try await other.get("/auth/me", bearer: person.accessToken).status == 200)
                let retired = try await admin.act("/keys/\(old)/retire", ["confirm": .string("retire \(old)")])
                #expect(retired.status == 200 && retired["state"] == "retired", "\(retired.text)")
                expectError(try await api.get("/auth/me", bearer: person.accessToken), 401, "INVALID_TOKEN")
                try await eventually("the other replica refuses it", within: .seconds(2)) {
                    try await other.get("/auth/me", bearer: person.accessToken).status == 401
                }
                let refreshed = try await other.refresh(person.refreshToken)
                #expect(refreshed.status == 200, "\(refreshed.text)")
                // Repeating it changes nothing.
                let again = try await admin.act("/keys/\(old)/retire", ["confirm": .string("retire \(old)")])
                #expect(again.status == 200 && again["state"] == "retired")
                let events = try await first.audited().filter { $0.event == "key.retired" }
                #expect(events.count == 1 && events.first?.details["key"].string == old)
                let published = try await api.send(.GET, "/.well-known/jwks.json").text
                #expect(!published.contains(old))
            }
        }
    }

    @Test func `a replica that no notification reaches refuses a retired key, too`() async throws {
        try await Replicas.with { replicas in
            let (api, other) = replicas.clients
            let guest = try await api.guest()
            let backend = replicas.first.backend
            let application = try await replicas.first.application()
            let old = try #require(
                try await backend.store.listedSigningKeys(application: application.id)
                    .first { $0.purpose == .accessTokens }?.kid)
            try await replicas.deafen()
            try await backend.keys.retire(
                old, for: .accessTokens, of: application, recording: AuditEntry(.keyRetired))
            try await eventually("the other replica refuses it", within: .seconds(10)) {
                try await other.get("/auth/me", bearer: guest.accessToken).status == 401
            }
        }
    }

    @Test func `a key that signs is replaced when it is retired, once`() async throws {
        try await TestServer.with(admin: OperatorClient.admin) { server in
            let (api, admin) = (APIClient(server), try await OperatorClient.of(server))
            let guest = try await api.guest()
            let old = try #require(try await admin.keys().first { $0.purpose == "accessTokens" }?.kid)
            let path = "/keys/\(old)/retire"
            let plan = try await admin.ask(path, ["dryRun": true])
            #expect(plan.status == 200 && plan["dryRun"] == true && plan["replaces"] == true, "\(plan.text)")
            #expect(plan["refuses"] == true && plan["confirm"].string == "retire \(old)")
            #expect(try await admin.keys().count == 2)
            let answers = try await atOnce(20) {
                try await admin.act(path, ["confirm": .string("retire \(old)")])
            }
            #expect(answers.contains { $0.status == 200 })
            #expect(answers.allSatisfy { [200, 503].contains($0.status) }, "\(answers.map(\.text))")
            let keys = try await admin.keys().filter { $0.purpose == "accessTokens" }
            #expect(keys.map(\.state) == ["signing", "retired"], "\(keys)")
            #expect(try await server.audited().filter { $0.event == "key.retired" }.count == 1)
            expectError(try await api.get("/auth/me", bearer: guest.accessToken), 401, "INVALID_TOKEN")
            #expect(try await api.get("/auth/me", bearer: api.guest().accessToken).status == 200)
        }
    }

    @Test func `a retirement needs the phrase, a reason, and a key of the application`() async throws {
        try await TestServer.with(others: TestServer.photos, admin: OperatorClient.admin) { server in
            let admin = try await OperatorClient.of(server)
            let photos = try await OperatorClient.of(server, application: "photos")
            let keys = try await admin.keys()
            let kid = try #require(keys.first { $0.purpose == "accessTokens" }?.kid)
            for confirm: JSONValue in [.null, "retire", .string("Retire \(kid)"), .string("retire \(kid) ")] {
                expectError(
                    try await admin.act("/keys/\(kid)/retire", ["confirm": confirm]), 409, "CONFIRMATION_REQUIRED")
            }
            let confirm = JSONValue.string("retire \(kid)")
            expectError(try await admin.ask("/keys/\(kid)/retire", ["confirm": confirm]), 400, "MISSING_PARAMETER")
            expectError(try await photos.act("/keys/\(kid)/retire", ["confirm": confirm]), 404, "NOT_FOUND")
            expectError(try await photos.ask("/keys/\(kid)/retire", ["dryRun": true]), 404, "NOT_FOUND")
            let erasure = try #require(keys.first { $0.purpose == "erasures" }?.kid)
            expectError(
                try await admin.act("/keys/\(erasure)/retire", ["confirm": .string("retire \(erasure)")]), 409,
                "WRONG_STATE")
            let noted: JSONValue = ["code": "test", "note": "about somebody"]
            expectError(
                try await admin.act("/keys/\(kid)/retire", ["confirm": confirm, "reason": noted]), 400,
                "INVALID_PARAMETER")
            #expect(try await admin.keys() == keys)
        }
    }
}

/// A key as the admin API lists it.
private struct ListedKey: Equatable {
    let kid, purpose, state: String
}

extension OperatorClient {
    fileprivate func keys() async throws -> [ListedKey] {
        let answer = try await get("/keys")
        return try #require(answer["items"].array, "\(answer.text)").map { key in
            ListedKey(
                kid: try #require(key["kid"].string), purpose: try #require(key["purpose"].string),
                state: try #require(key["state"].string))
        }
    }
}
