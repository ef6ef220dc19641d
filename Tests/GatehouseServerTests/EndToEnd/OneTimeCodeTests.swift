import Accounts
import Delivery
import Foundation
import NIOHTTP1
import PhoneProvider
import ProviderKit
import Testing

@testable import GatehouseServer

/// Sign-in by a code that is sent to an address.
struct OneTimeCodeTests {
    private func ask(_ client: APIClient, _ email: String, bearer: String? = nil) async throws -> APIClient.Answer {
        try await client.post("/auth/email/otp", ["email": .string(email)], bearer: bearer)
    }

    private func answer(
        _ client: APIClient, _ challenge: String?, _ code: String, bearer: String? = nil
    ) async throws -> APIClient.Answer {
        try await client.post(
            "/auth/email/otp/verify", ["challengeId": .string(challenge ?? ""), "code": .string(code)], bearer: bearer)
    }

    /// Returns the code of the newest mail, which is alone on its line.
    private func mailedCode(_ client: APIClient, to email: String, at server: TestServer, count: Int = 1) async throws
        -> String
    {
        let mails = try await client.mails(to: email, at: server, count: count)
        let lines = try #require(mails.first).text.split(separator: "\n").map(String.init)
        let codes = lines.filter { $0.count == 6 && $0.allSatisfy(\.isNumber) }
        try #require(codes.count == 1, "\(lines)")
        return codes[0]
    }

    private func another(than code: String) -> String { code == "000000" ? "000001" : "000000" }

    @Test func `a code opens an account, and the same account again`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let asked = try await ask(client, email.uppercased())
            #expect(asked.status == 202 && asked.json.keys == ["challengeId", "expiresIn", "resendAfter"])
            #expect(asked["expiresIn"] == 600 && asked["resendAfter"] == 60)
            let code = try await mailedCode(client, to: email, at: server)
            let first = try await answer(client, asked["challengeId"].string, code)
            #expect(first.status == 200 && first["isNewAccount"] == true, "\(first.text)")
            #expect(first["user"]["email"].string == email && first["auth"]["provider"] == "email")
            #expect(try DecodedToken(first["accessToken"].string ?? "").claims["amr"] == ["otp"])
            expectError(try await answer(client, asked["challengeId"].string, code), 401, "INVALID_CREDENTIALS")
            let again = try await ask(client, email)
            #expect(again["challengeId"] != asked["challengeId"], "the used one is no longer under way")
            let second = try await answer(
                client, again["challengeId"].string, mailedCode(client, to: email, at: server, count: 2))
            #expect(second["user"]["id"] == first["user"]["id"] && second["isNewAccount"] == false, "\(second.text)")
        }
    }

    @Test func `asking again within a minute sends nothing, later it ends the earlier code`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let answers = try await atOnce(10) { try await ask(client, email) }
            #expect(answers.allSatisfy { $0.status == 202 })
            #expect(Set(answers.map { $0["challengeId"] }).count == 1)
            let code = try await mailedCode(client, to: email, at: server)
            #expect(server.inbox.messages().filter { $0.to == email }.count == 1)
            try await server.age("proofs", "created_at", by: "61 seconds")
            let later = try await ask(client, email)
            #expect(later["challengeId"] != answers.first?["challengeId"])
            _ = try await client.mails(to: email, at: server, count: 2)
            expectError(
                try await answer(client, answers.first?["challengeId"].string, code), 401, "INVALID_CREDENTIALS")
        }
    }

    @Test func `five of two hundred guesses are checked, and then the right code is refused too`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let challenge = try await ask(client, email)["challengeId"].string
            let code = try await mailedCode(client, to: email, at: server)
            let wrong = another(than: code)
            let answers = try await atOnce(200) { try await answer(client, challenge, wrong) }
            #expect(answers.allSatisfy { $0.code == "INVALID_CREDENTIALS" })
            expectError(try await answer(client, challenge, code), 401, "INVALID_CREDENTIALS")
            #expect(try await server.count("SELECT attempts FROM proofs WHERE kind = 'code'") == 5)
            #expect(try await server.count("SELECT wrong FROM code_guesses") == 5)
        }
    }

    @Test func `a code and its link, twenty times at once, open one session`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let challenge = try await ask(client, email)["challengeId"].string
            let code = try await mailedCode(client, to: email, at: server)
            let token = try await client.mailedToken(to: email, at: server)
            async let links = atOnce(10) { try await client.verify(token) }
            let answers = try await atOnce(10) { try await answer(client, challenge, code) } + links
            #expect(answers.count { $0.status == 200 } == 1, "\(answers.map(\.text))")
            #expect(answers.count { $0.status == 401 } == 19, "\(answers.map(\.text))")
            #expect(try await server.count("SELECT count(*) FROM sessions") == 1)
        }
    }

    @Test func `an address allows five hundred wrong codes a day over all challenges`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let challenge = try await ask(client, email)["challengeId"].string
            let code = try await mailedCode(client, to: email, at: server)
            _ = try await answer(client, challenge, another(than: code))
            try await server.execute("UPDATE code_guesses SET wrong = 500")
            expectError(try await answer(client, challenge, code), 401, "INVALID_CREDENTIALS")
            try await server.age("code_guesses", "since", by: "25 hours")
            #expect(try await answer(client, challenge, code).status == 200)
        }
    }

    @Test func `a code that was requested with a bearer works only for that session`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let guest = try await client.guest()
            let challenge = try await ask(client, email, bearer: guest.accessToken)["challengeId"].string
            let code = try await mailedCode(client, to: email, at: server)
            let stranger = try await client.guest()
            expectError(try await answer(client, challenge, code), 401, "INVALID_CREDENTIALS")
            expectError(
                try await answer(client, challenge, code, bearer: stranger.accessToken), 401, "INVALID_CREDENTIALS")
            #expect(try await answer(client, challenge, code, bearer: guest.accessToken).status == 200)
            expectError(try await ask(client, email, bearer: "nonsense"), 401, "INVALID_TOKEN")
        }
    }

    @Test func `the link beside the code signs in once, and either uses up both`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let email = APIClient.newAddress()
            let challenge = try await ask(client, email)["challengeId"].string
            let code = try await mailedCode(client, to: email, at: server)
            let token = try await client.mailedToken(to: email, at: server)
            for path in ["/auth/reset-password", "/auth/account/restore", "/auth/token", "/auth/refresh"] {
                let body: JSONValue = [
                    "token": .string(token), "newPassword": .string(APIClient.password), "restoreToken": .string(token),
                    "code": .string(token), "redirect_uri": "demo://oauth/callback", "refreshToken": .string(token),
                ]
                #expect(try await client.post(path, body).status == 401, "\(path)")
            }
            #expect(try await client.verify(token).status == 200)
            expectError(try await client.verify(token), 401, "INVALID_TOKEN")
            expectError(try await answer(client, challenge, code), 401, "INVALID_CREDENTIALS")
        }
    }

    @Test func `if sign-up is not allowed, an unknown address gets the same answer and no mail`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let yaml = TestServer.yaml(email: "mode: existing")
            let configuration = try Configuration.parse(
                yaml, file: "test.yaml", environment: ["DATABASE_URL": server.databaseURL],
                installed: TestServer.providers)
            try await server.server.take(over: configuration, sections: [.applications])
            let unknown = APIClient.newAddress()
            let answers = [try await ask(client, unknown), try await ask(client, person.email)]
            #expect(answers.allSatisfy { $0.status == 202 })
            #expect(answers[0].json.keys == answers[1].json.keys && answers[0]["expiresIn"] == answers[1]["expiresIn"])
            _ = try await mailedCode(client, to: person.email, at: server, count: 2)
            #expect(server.inbox.messages().allSatisfy { $0.to != unknown })
        }
    }

    @Test(arguments: [
        ("/auth/email/otp", "Ihr Code"), ("/auth/register", "Guten Tag"), ("/auth/forgot-password", "Guten Tag"),
    ])
    func `a mail is in the language of the request`(path: String, words: String) async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            let person = try await client.register(at: server)
            let email = path.contains("register") ? APIClient.newAddress() : person.email
            let before = server.inbox.messages().count { $0.to == email }
            let asked = try await client.post(
                path, ["email": .string(email), "password": .string(APIClient.password)],
                headers: ["accept-language": "de-CH, fr;q=0.8"])
            #expect((200...299).contains(asked.status), "\(asked.text)")
            let mails = try await client.mails(to: email, at: server, count: before + 1)
            let mail = try #require(mails.first)
            #expect((mail.subject ?? "").contains(words) || mail.text.contains(words), "\(mail.text)")
        }
    }

    @Test func `malformed addresses and codes are refused`() async throws {
        try await TestServer.with { server in
            let client = APIClient(server)
            for email in ["", "x", "a@b", "a b@example.com", "a@example.com, b@example.com"] {
                expectError(try await ask(client, email), 400, "INVALID_PARAMETER", email)
            }
            expectError(try await client.post("/auth/email/otp"), 400, "MISSING_PARAMETER")
            for challenge in ["", "x", UUID().uuidString] {
                expectError(try await answer(client, challenge, "000000"), 401, "INVALID_CREDENTIALS")
            }
            expectError(try await client.post("/auth/phone/otp", ["phone": "+33612345678"]), 403, "PROVIDER_DISABLED")
        }
    }

    @Test func `a phone number is proven by a text`() async throws {
        try await TestServer.with(providers: "phone: { allowedCountries: [FR, DE] }") { server in
            let client = APIClient(server)
            // Numbers of countries that are not allowed, and of landlines and premium services.
            for phone in [
                "0612345678", "+336", "+44 7400 123456", "+447400123456", "tel:+33612345678", "+33142685300",
                "+33891234567",
            ] {
                expectError(
                    try await client.post("/auth/phone/otp", ["phone": .string(phone)]), 400, "INVALID_PARAMETER", phone
                )
            }
            let asked = try await client.post("/auth/phone/otp", ["phone": "+33612345678"])
            #expect(asked.status == 202, "\(asked.text)")
            let texts = try await client.mails(to: "+33612345678", at: server, count: 1)
            let digits = try #require(texts.first).text.matches(of: /[0-9]+/).map { String($0.output) }
            #expect(digits.count == 1 && digits.first?.count == 6, "\(texts)")
            let answer = try await client.post(
                "/auth/phone/otp/verify", ["challengeId": asked["challengeId"], "code": .string(digits.first ?? "")])
            #expect(answer.status == 200, "\(answer.text)")
            #expect(answer["user"]["phone"] == "+33612345678" && answer["user"]["phoneVerified"] == true)
            #expect(try DecodedToken(answer["accessToken"].string ?? "").claims["amr"] == ["otp", "sms"])
        }
    }
}
