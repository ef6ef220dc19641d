import Accounts
import Delivery
import Foundation
import NIOHTTP1
import Postgres
import ProviderKit
import Testing

@testable import GatehouseServer

/// Notices are in the language of the account's owner, regardless of who caused them.
struct NoticeLanguageTests {
    private func reading(_ languages: String?) -> HTTPHeaders {
        languages.map { ["accept-language": $0] } ?? [:]
    }

    /// Creates an account through a mailed link, confirmed with this `Accept-Language`.
    private func owner(_ languages: String?, at server: TestServer) async throws -> Person {
        let client = APIClient(server)
        let email = APIClient.newAddress()
        let token = try await client.pend(at: server, email)
        let verified = try await client.post(
            "/auth/verify-email", ["token": .string(token)], headers: reading(languages))
        return try Person(verified, email: email, password: APIClient.password)
    }

    private func login(_ person: Person, _ languages: String?, at server: TestServer) async throws -> Person {
        let answer = try await APIClient(server).post(
            "/auth/login", ["email": .string(person.email), "password": .string(person.password)],
            headers: reading(languages))
        return try Person(answer, email: person.email, password: person.password)
    }

    private func languages(of person: Person, at server: TestServer) async throws -> String? {
        try await server.text("SELECT locale FROM accounts WHERE uid = $1", [.uuid(UUID(uuidString: person.uid))])
    }

    /// Waits for a mail whose subject has this suffix.
    private func expectMail(
        _ subject: String, to person: Person, at server: TestServer, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await eventually("\(subject) arrives", sourceLocation: sourceLocation) {
            server.inbox.messages().contains { $0.to == person.email && $0.subject?.hasSuffix(subject) == true }
        }
    }

    @Test(arguments: [
        ("fr-CH, en;q=0.5", "Votre compte demo va être supprimé", "Votre compte demo est rétabli"),
        ("de", "Ihr Konto bei demo wird gelöscht", "Ihr Konto bei demo ist wiederhergestellt"),
        ("ja", "Your account at demo is going to be deleted", "Your account at demo is restored"),
        (nil, "Your account at demo is going to be deleted", "Your account at demo is restored"),
    ])
    func `notices of deletion and restoring are in the language of the person who opened the account`(
        languages: String?, deleted: String, restored: String
    ) async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await owner(languages, at: server)
            #expect(try await self.languages(of: person, at: server) == languages)
            let answer = try await client.send(
                .DELETE, "/api/v1/auth/account", bearer: person.accessToken, headers: reading("es"))
            #expect(answer.status == 204)
            try await expectMail(deleted, to: person, at: server)

            let refused = try await client.login(person.email)
            let token = refused.json["error"]["details"]["restoreToken"]
            let back = try await client.post(
                "/auth/account/restore", ["restoreToken": token], headers: reading("es"))
            #expect(back.status == 200, "\(back.text)")
            try await expectMail(restored, to: person, at: server)
        }
    }

    @Test func `the owner of a taken address reads the notice in their own language`() async throws {
        try await TestServer.with { server in
            let person = try await owner("fr", at: server)
            let asked = try await APIClient(server).post(
                "/auth/register", ["email": .string(person.email), "password": .string(APIClient.otherPassword)],
                headers: reading("de"))
            #expect(asked.status == 201)
            try await expectMail("Vous avez déjà un compte demo", to: person, at: server)
        }
    }

    /// An account has the address, but not through an identity of this provider.
    @Test func `an owner who signs in another way unlocks it too`() async throws {
        try await TestServer.with(providers: "scripted: {}") { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let first = try await client.present(.somebody("ada", email: email))
            let person = try Person(first, email: email, password: "")
            try await server.execute("UPDATE accounts SET locale = 'fr'")
            _ = try await client.post(
                "/auth/register", ["email": .string(email), "password": .string(APIClient.otherPassword)],
                headers: reading("de"))
            try await expectMail("Vous avez déjà un compte demo", to: person, at: server)
        }
    }

    @Test func `signing in stores a new language, and keeps the old one if there is none`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await owner("fr", at: server)
            _ = try await login(person, "es-AR, en;q=0.3", at: server)
            #expect(try await languages(of: person, at: server) == "es-AR, en;q=0.3")
            let session = try await login(person, nil, at: server)
            #expect(try await languages(of: person, at: server) == "es-AR, en;q=0.3")
            let body: JSONValue = ["password": .string(APIClient.otherPassword)]
            #expect(try await client.put("/auth/change-password", body, bearer: session.accessToken).status == 204)
            try await expectMail("Su contraseña de demo ha cambiado", to: person, at: server)

            let token = try await client.forget(at: server, person.email)
            let reset = try await client.post(
                "/auth/reset-password", ["token": .string(token), "newPassword": .string(APIClient.thirdPassword)],
                headers: reading("de"))
            #expect(reset.status == 204)
            try await eventually("the second notice arrives") {
                server.inbox.messages().count { $0.subject == "Su contraseña de demo ha cambiado" } == 2
            }
        }
    }

    @Test func `an identity that joins does not change the language of notices`() async throws {
        try await TestServer.with(providers: "scripted: {}") { server in
            let client = APIClient(server)
            let person = try await owner("fr", at: server)
            let evidence = VerifiedIdentity.somebody("ada", email: person.email)
            let joined = try await client.post(
                "/auth/scripted", ["proof": .string(evidence.proof)], headers: reading("de"))
            #expect(joined["user"]["id"].string == person.uid)
            try await expectMail("Un nouveau moyen de vous connecter à demo", to: person, at: server)
            try await server.execute("UPDATE accounts SET locale = 'fr'")
            let payload = #"{"type":"consent-revoked","sub":"ada","jti":"1"}"#
            _ = try await client.post(
                "/auth/scripted/notifications", ["payload": .string(payload)], headers: reading("de"))
            try await expectMail("ne donne plus accès à votre compte demo", to: person, at: server)
        }
    }

    @Test(arguments: [String(repeating: "fr, ", count: 2000), "fr\u{E9}", String(repeating: "x", count: 201)])
    func `any Accept-Language signs in`(languages: String) async throws {
        try await TestServer.with { server in
            let guest = try await APIClient(server).post("/auth/anonymous", headers: reading(languages))
            #expect(guest.status == 200)
            let kept = try await server.text("SELECT locale FROM accounts") ?? ""
            #expect(kept.utf8.count <= 200 && languages.hasPrefix(kept))
        }
    }

    /// Each sign-in locks the account's row while it opens its session; concurrent sign-ins must still succeed.
    @Test func `sign-ins at once with as many languages all succeed`() async throws {
        try await TestServer.with { server in
            let person = try await owner("fr", at: server)
            let wanted = ["de", "es", "en", "fr-CA", "de-AT", "es-MX"]
            let start = ContinuousClock.now
            try await withThrowingTaskGroup { group in
                for number in 0..<48 {
                    group.addTask {
                        _ = try await login(person, wanted[number % wanted.count], at: server)
                    }
                }
                try await group.waitForAll()
            }
            print("48 sign-ins at once in 6 languages took \((ContinuousClock.now - start).milliseconds) ms")
            let kept = try await languages(of: person, at: server)
            #expect((wanted + ["fr"]).contains(kept ?? ""))
        }
    }
}
