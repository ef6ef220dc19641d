import Accounts
import Foundation
import Postgres
import ProviderKit
import Storage
import Testing

@testable import GatehouseServer

/// Sessions of people who sign in with an external provider.
struct DelegatedSignInTests {
    private func with(
        providers: String = "scripted: { expose: [hd, groups] }",
        _ body: @Sendable @escaping (TestServer, APIClient) async throws -> Void
    ) async throws {
        try await TestServer.with(providers: providers) { server in
            try await body(server, APIClient(server))
        }
    }

    @Test func `a trusted address joins the account that owns it, and its owner is notified`() async throws {
        try await with { server, client in
            let person = try await client.register(at: server)
            let joined = try await client.present(.somebody("ada", email: person.email))
            #expect(joined.status == 200, "\(joined.text)")
            #expect(joined["user"]["id"].string == person.uid && joined["isNewAccount"] == false)
            #expect(joined["user"]["authProviders"] == ["email", "scripted"])
            let mails = try await client.mails(to: person.email, at: server, count: 2)
            #expect(
                mails.contains { $0.subject?.contains("new way to sign in") == true && $0.text.contains("Scripted") })
            let shown = try await server.text(
                "SELECT email || ' ' || email_verified FROM identities WHERE provider = 'scripted'")
            #expect(shown == "\(person.email) true")
            #expect(try await client.login(person.email).status == 200, "its password is as good as before")
        }
    }

    @Test(arguments: [(true, false), (false, true), (false, false)])
    func `an address without authority claims nothing`(isVerified: Bool, isTrusted: Bool) async throws {
        try await with { server, client in
            let person = try await client.register(at: server)
            let answer = try await client.present(
                .somebody("mallory", email: person.email, isVerified: isVerified, isTrusted: isTrusted))
            #expect(answer.status == 200 && answer["isNewAccount"] == true, "\(answer.text)")
            #expect(answer["user"]["id"].string != person.uid)
            #expect(answer["user"]["email"] == .null && answer["user"]["emailVerified"] == false)
        }
    }

    @Test func `proof of an address evicts unverified claims to it`() async throws {
        try await with { server, client in
            let address = APIClient.newAddress()
            let squatter = try Person(
                try await client.present(.somebody("squatter", email: address, isTrusted: false)), email: "",
                password: "")
            let pending = try await client.pend(at: server, address)
            let owner = try await client.present(.somebody("owner", email: address))
            #expect(owner["user"]["email"].string == address, "\(owner.text)")
            #expect(owner["user"]["id"].string != squatter.uid)
            expectError(try await client.verify(pending), 401, "INVALID_TOKEN", "the pending registration")
            expectError(
                try await client.get("/auth/me", bearer: squatter.accessToken), 401, "INVALID_TOKEN",
                "the squatter's session")
            let left = try await server.count(
                "SELECT count(*) FROM identities WHERE provider_uid = 'squatter' AND email IS NOT NULL")
            #expect(left == 0)
            let again = try await client.present(.somebody("squatter"))
            #expect(again["user"]["id"].string == squatter.uid, "the account itself stays")
        }
    }

    @Test func `a single-use proof signs in once, also if it is presented concurrently`() async throws {
        try await with { server, client in
            var evidence = VerifiedIdentity.somebody("ada")
            evidence.singleUse = SingleUse(id: "jti", expires: Date() + 300)
            let once = evidence
            let answers = try await atOnce(20) { try await client.present(once) }
            #expect(answers.count { $0.status == 200 } == 1)
            #expect(answers.allSatisfy { $0.status == 200 || $0.code == "INVALID_TOKEN" }, "\(answers.map(\.status))")
            #expect(try await server.count("SELECT count(*) FROM sessions") == 1)
            evidence.singleUse = SingleUse(id: "another", expires: Date() + 300)
            #expect(try await client.present(evidence).status == 200)
        }
    }

    @Test func `a refused sign-in leaves the proof unused`() async throws {
        try await with { server, client in
            let person = try Person(try await client.present(.somebody("ada")), email: "", password: "")
            var evidence = VerifiedIdentity.somebody("ada")
            evidence.singleUse = SingleUse(id: "jti", expires: Date() + 300)
            try await server.setDisabled(true, person)
            expectError(try await client.present(evidence), 403, "ACCOUNT_DISABLED")
            try await server.setDisabled(false, person)
            #expect(try await client.present(evidence).status == 200)
            expectError(try await client.present(evidence), 401, "INVALID_TOKEN")
        }
    }

    @Test func `tokens of the service are kept sealed, the latest for each identity`() async throws {
        try await with { server, client in
            var evidence = VerifiedIdentity.somebody("ada")
            for token in ["refresh-one", "refresh-two"] {
                evidence.tokens = ProviderTokens(refreshToken: token, clientID: "client")
                #expect(try await client.present(evidence).status == 200)
            }
            #expect(try await client.present(.somebody("ada")).status == 200)
            #expect(try await server.count("SELECT count(*) FROM provider_tokens") == 1)
            let readable = try await server.count(
                "SELECT count(*) FROM provider_tokens WHERE position('refresh'::bytea IN sealed) > 0")
            #expect(readable == 0)
        }
    }

    @Test func `exposed claims are in auth and in every access token, beside the server's own`() async throws {
        try await with { _, client in
            var evidence = VerifiedIdentity.somebody("ada")
            evidence.profile = [
                "hd": "example.com", "iss": "evil", "uid": "evil", "roles": ["a", 1], "groups": ["a", 1],
                "hidden": true,
            ]
            let answer = try await client.present(evidence)
            #expect(answer["auth"]["hd"] == "example.com" && answer["auth"]["groups"] == ["a", 1])
            #expect(answer["auth"]["uid"] == answer["user"]["id"] && answer["auth"]["hidden"] == .null)
            let refreshed = try await client.refresh(answer["refreshToken"].string ?? "")
            for text in [answer["accessToken"].string, refreshed["accessToken"].string] {
                let token = try DecodedToken(try #require(text))
                #expect(token.claims["hd"] == "example.com" && token.claims["groups"] == ["a", 1])
                #expect(token.claims["uid"] == answer["user"]["id"] && token.claims["iss"] == "http://127.0.0.1:1")
                #expect(try await client.get("/auth/me", bearer: text).status == 200)
            }
        }
    }

    @Test func `a verified phone number belongs to the account, and joins like an address`() async throws {
        try await with(providers: "scripted: {}\nother: { kind: scripted, mode: open }") { server, client in
            let number = try #require(PhoneNumber("+33612345678"))
            let evidence = VerifiedIdentity(
                providerUid: "ada",
                addresses: [AddressClaim(address: .phone(number), isVerified: true, isAuthoritative: true)])
            func present(_ evidence: VerifiedIdentity, _ provider: String) async throws -> APIClient.Answer {
                try await client.post(
                    "/auth/scripted", ["proof": .string(evidence.proof), "provider": .string(provider)])
            }
            let first = try await present(evidence, "scripted")
            #expect(first["user"]["phone"] == "+33612345678" && first["user"]["phoneVerified"] == true)
            #expect(first["auth"]["phone"] == "+33612345678", "\(first.text)")
            let second = try await present(evidence, "other")
            #expect(second["user"]["id"] == first["user"]["id"], "\(second.text)")
        }
    }

    @Test func `a name is kept from the first sign-in that has one`() async throws {
        try await with { server, client in
            var evidence = VerifiedIdentity.somebody("ada")
            for (name, kept) in [(nil, .null), ("Ada\0 Lovelace", "Ada Lovelace"), ("Countess", "Ada Lovelace")]
                as [(String?, JSONValue)]
            {
                evidence.displayName = name
                let answer = try await client.present(evidence)
                #expect(answer["auth"]["displayName"] == kept, "\(answer.text)")
            }
        }
    }

    @Test func `values that cannot be stored are refused or left out, never a server error`() async throws {
        try await with { server, client in
            for subject in ["", "a\0b", String(repeating: "x", count: 256)] {
                expectError(try await client.present(.somebody(subject)), 401, "INVALID_TOKEN")
            }
            var evidence = VerifiedIdentity.somebody("ada")
            evidence.profile = [
                "nul": "a\0b", "deep": [["x": "\0"]], "big": .string(String(repeating: "x", count: 3000)),
                "fine": "yes",
            ]
            #expect(try await client.present(evidence).status == 200)
            #expect(try await server.text("SELECT profile::text FROM identities") == #"{"fine": "yes"}"#)
        }
    }

    @Test func `proof of a phone number evicts unverified claims to it`() async throws {
        try await with { server, client in
            let number = try #require(PhoneNumber("+33612345678"))
            func evidence(_ subject: String, _ isProven: Bool) -> VerifiedIdentity {
                let claim = AddressClaim(address: .phone(number), isVerified: isProven, isAuthoritative: isProven)
                return VerifiedIdentity(providerUid: subject, addresses: [claim])
            }
            let squatter = try Person(try await client.present(evidence("squatter", false)), email: "", password: "")
            let owner = try await client.present(evidence("owner", true))
            #expect(owner["user"]["phone"] == "+33612345678", "\(owner.text)")
            expectError(try await client.get("/auth/me", bearer: squatter.accessToken), 401, "INVALID_TOKEN")
            let claims = try await server.count("SELECT count(*) FROM identities WHERE phone IS NOT NULL")
            #expect(claims == 1)
        }
    }

    @Test func `expired flows, proofs and codes are removed, redeemed ones a day later`() async throws {
        try await with { server, client in
            var once = VerifiedIdentity.somebody("ada")
            once.singleUse = SingleUse(id: "jti", expires: Date() + 300)
            #expect(try await client.present(once).status == 200)
            _ = try await client.post("/auth/email/otp", ["email": "ada@example.com"])
            let rows = ExpiredRows(database: server.backend.database)
            #expect(try await rows.remove() == 0)
            try await server.execute("UPDATE used_proofs SET expires_at = now() - interval '11 minutes'")
            try await server.execute("UPDATE proofs SET expires_at = now() - interval '1 second'")
            #expect(try await rows.remove() >= 2)
            #expect(try await server.count("SELECT count(*) FROM used_proofs") == 0)
            #expect(try await server.count("SELECT count(*) FROM proofs") == 0)
        }
    }

    @Test func `the mode of a provider restricts sign-ins`() async throws {
        try await with(providers: "scripted: { mode: existing }\nlinked: { kind: scripted, mode: linkOnly }") {
            server, client in
            func present(_ provider: String) async throws -> APIClient.Answer {
                try await client.post(
                    "/auth/scripted",
                    ["proof": .string(VerifiedIdentity.somebody("ada").proof), "provider": .string(provider)])
            }
            for (provider, rule) in [("scripted", "provider.no-sign-up"), ("linked", "provider.link-only")] {
                let refused = try await present(provider)
                expectError(refused, 403, "PROVIDER_DISABLED")
                #expect(refused["error"]["details"]["rule"].string == rule)
            }
            #expect(try await server.count("SELECT count(*) FROM accounts") == 0)
        }
    }
}
