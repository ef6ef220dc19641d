import Accounts
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// Sign-ins that restore an account in its grace period (`deletion.restoreOnSignIn`).
struct RestoringSignInTests {
    private static let setting = "deletion: { restoreOnSignIn: true }"

    /// How often accounts were restored: in the audit, in the receipts, and in mails.
    private func restorations(at server: TestServer) async throws -> [Int] {
        [
            try await server.count("SELECT count(*) FROM audit_events WHERE event = 'account.restored'"),
            try await server.count("SELECT count(*) FROM erasures WHERE restored_at IS NOT NULL"),
            try await server.count("SELECT count(*) FROM outbox WHERE topic = 'accountRestored'"),
        ]
    }

    @Test func `a password restores the account, whose owner is told`() async throws {
        try await TestServer.with(application: Self.setting) { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            _ = try await client.patch("/auth/me", ["metadata": ["a": 1]], bearer: person.accessToken)
            let receipt = try await client.deleteAccount(person)
            expectError(try await client.login(person.email, "wrong password"), 401, "INVALID_CREDENTIALS")
            #expect(try await client.send(.GET, receipt)["status"] == "scheduled")
            let back = try await client.login(person.email)
            #expect(back.status == 200 && back["isNewAccount"] == false, "\(back.text)")
            #expect(back["user"]["id"].string == person.uid && back["user"]["metadata"] == ["a": 1])
            #expect(try await client.send(.GET, receipt)["status"] == "restored")
            expectError(try await client.get("/auth/me", bearer: person.accessToken), 401, "INVALID_TOKEN")
            let bearer = try #require(back["accessToken"].string)
            #expect(try await client.get("/auth/me", bearer: bearer).status == 200)
            #expect(try await client.login(person.email).status == 200)
            #expect(try await restorations(at: server) == [1, 1, 1])
            let mails = try await client.mails(to: person.email, at: server, count: 3)
            #expect(mails[0].subject?.contains("deleted") == false, "\(mails.map(\.subject))")
        }
    }

    @Test func `a code, an identity, and a new identity with the account's address restore it`() async throws {
        try await TestServer.linking(application: Self.setting) { server, client in
            let subject = UUID().uuidString
            let ways: [@Sendable (Person) async throws -> APIClient.Answer] = [
                { person in
                    let body = try await client.challenge("email", person.email, at: server)
                    return try await client.post("/auth/email/otp/verify", .object(body))
                },
                { try await client.present(.somebody(subject, email: $0.email), to: "scripted") },
                { try await client.present(.somebody(subject, email: $0.email), to: "scripted") },
            ]
            let person = try await client.register(at: server)
            var session = person
            for (index, way) in ways.enumerated() {
                _ = try await client.deleteAccount(session)
                let back = try await way(person)
                #expect(back.status == 200 && back["user"]["id"].string == person.uid, "\(index): \(back.text)")
                session = try Person(back, email: person.email, password: person.password)
                #expect(try await restorations(at: server) == Array(repeating: index + 1, count: 3))
            }
        }
    }

    @Test func `twenty sign-ins at once restore it once`() async throws {
        try await TestServer.linking(application: Self.setting) { server, client in
            let person = try await client.register(at: server)
            let newcomer = try await client.newcomer("ada")
            _ = try await client.deleteAccount(person)
            _ = try await client.deleteAccount(newcomer)
            let logins = try await atOnce(20) { try await client.login(person.email) }
            #expect(logins.count { $0.status == 200 } == 20, "\(logins.map(\.status))")
            #expect(try await restorations(at: server) == [1, 1, 1])
            let proofs = try await atOnce(20) { try await client.present(.somebody("ada"), to: "scripted") }
            #expect(proofs.count { $0.status == 200 } == 20, "\(proofs.map(\.status))")
            #expect(Set(proofs.map { $0["user"]["id"].string }) == [newcomer.uid])
            #expect(try await restorations(at: server) == [2, 2, 1], "the newcomer has no address")
        }
    }

    @Test func `a deletion that races with sign-ins leaves a live account or none of its sessions`() async throws {
        try await TestServer.with(application: Self.setting) { server in
            let client = APIClient(server)
            for _ in 1...3 {
                let person = try await client.register(at: server)
                async let logins = atOnce(10) { try await client.login(person.email) }
                let receipt = try await client.deleteAccount(person)
                #expect(try await logins.allSatisfy { $0.status == 200 })
                let isRestored = try await client.send(.GET, receipt)["status"] == "restored"
                let live = try await server.liveSessions(of: person.uid)
                #expect(isRestored ? live > 0 : live == 0)
            }
        }
    }

    @Test func `what is no sign-in of the owner restores nothing`() async throws {
        try await TestServer.linking(application: Self.setting) { server, client in
            let person = try await client.newcomer("ada", email: APIClient.newAddress())
            let stranger = try await client.register(at: server)
            _ = try await client.deleteAccount(person)
            let link = try await client.link(.somebody("ada"), bearer: stranger.accessToken)
            expectRefusal(link, 403, "ACCOUNT_DELETED", rule: "account.deleted")
            try await server.setDisabled(true, person)
            expectError(try await client.present(.somebody("ada"), to: "scripted"), 403, "ACCOUNT_DISABLED")
            try await server.setDisabled(false, person)

            let registered = try await client.register(at: server)
            _ = try await client.deleteAccount(registered)
            let token = try await client.forget(at: server, registered.email)
            let reset = try await client.reset(token, to: APIClient.otherPassword)
            expectError(reset, 403, "ACCOUNT_DELETED", "a reset opens no session")
            #expect(reset["error"]["details"]["restoreToken"].string != nil)
            #expect(try await restorations(at: server) == [0, 0, 0])
            #expect(try await client.login(registered.email, APIClient.otherPassword).status == 200)
        }
    }

    @Test func `an erasure that is due is not undone`() async throws {
        try await TestServer.linking(application: Self.setting) { server, client in
            let person = try await client.register(at: server)
            let newcomer = try await client.newcomer("ada")
            _ = try await client.deleteAccount(person)
            _ = try await client.deleteAccount(newcomer)
            try await server.makeDue()
            // The server may have erased the accounts already, which makes the second proof a new account.
            expectRefusal(try await client.login(person.email))
            let proof = try await client.present(.somebody("ada"), to: "scripted")
            #expect(proof["user"]["id"].string != newcomer.uid)
            #expect(proof.status == 200 || proof.code == "ACCOUNT_DELETED")
            #expect(proof["error"]["details"]["restoreToken"].string == nil)
            #expect(try await restorations(at: server) == [0, 0, 0])
        }
    }
}
