import Accounts
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// The five attacks in which an attacker prepares an account before its victim opens it; after each, only the victim
/// has access.
///
/// See Sudhodanan and Paverd, "Pre-hijacked accounts", USENIX Security 2022.
struct PreHijackingTests {
    /// The attacker's passwords do not open the victim's account.
    private func expectShutOut(_ client: APIClient, of email: String, _ about: String) async throws {
        let answer = try await client.login(email)
        #expect(answer.code == "INVALID_CREDENTIALS", "\(about): \(answer.text)")
    }

    @Test func `classic-federated merge: a registered password does not outlive a federated sign-up`() async throws {
        try await TestServer.linking { server, client in
            let email = APIClient.newAddress()
            let token = try await client.pend(at: server, email)
            let victim = try await client.present(.somebody("victim", email: email))
            #expect(victim["isNewAccount"] == true && victim["user"]["email"].string == email, "\(victim.text)")
            try await expectShutOut(client, of: email, "the attacker's password")
            expectError(try await client.verify(token), 401, "INVALID_TOKEN", "and the token mailed for it")
        }
    }

    @Test func `unexpired session: a session that never proved the address ends once it is proven`() async throws {
        try await TestServer.linking { server, client in
            let email = APIClient.newAddress()
            let attacker = try Person(
                try await client.present(.somebody("attacker", email: email, isVerified: false)), email: "",
                password: "")
            let victim = try await client.register(at: server, email: email)
            #expect(victim.uid != attacker.uid)
            expectError(try await client.get("/auth/me", bearer: attacker.accessToken), 401, "INVALID_TOKEN")
            expectError(try await client.refresh(attacker.refreshToken), 401, "INVALID_REFRESH_TOKEN")

            let stolen = try Person(try await client.login(email), email: email, password: "")
            let token = try await client.forget(at: server, email)
            #expect(try await client.reset(token, to: APIClient.otherPassword).status == 204)
            expectError(try await client.get("/auth/me", bearer: stolen.accessToken), 401, "INVALID_TOKEN", "a reset")
        }
    }

    @Test func `trojan identifier: a pending link to the attacker's account joins nothing`() async throws {
        try await TestServer.linking { server, client in
            let email = APIClient.newAddress()
            let attacker = try await client.newcomer("attacker")
            let body: JSONValue = ["email": .string(email), "password": .string(APIClient.password)]
            #expect(try await client.post("/auth/identities/email", body, bearer: attacker.accessToken).status == 202)
            let mailed = try await client.mailedToken(to: email, at: server)
            let reset = try await client.forget(at: server, email)
            #expect(try await client.reset(reset, to: APIClient.otherPassword).status == 204)
            let victim = try await client.login(email, APIClient.otherPassword)
            #expect(victim.status == 200 && victim["user"]["id"].string != attacker.uid, "\(victim.text)")
            #expect(victim["user"]["authProviders"] == ["email"], "no identity of the attacker's")
            let late = try await client.post(
                "/auth/verify-email", ["token": .string(mailed)], bearer: attacker.accessToken)
            expectError(late, 401, "INVALID_TOKEN")
            try await expectShutOut(client, of: email, "the attacker's password")
            #expect(try await client.present(.somebody("attacker"))["user"]["id"].string == attacker.uid)
        }
    }

    @Test func `unexpired email change: a change that is pending ends with the victim's proof`() async throws {
        try await TestServer.linking { server, client in
            let email = APIClient.newAddress()
            let attacker = try await client.register(at: server)
            let id = try await client.identityID(of: "email", bearer: attacker.accessToken)
            let asked = try await client.post(
                "/auth/identities/\(id)/address", ["email": .string(email)], bearer: attacker.accessToken)
            let code = try await client.sentCode(to: email, at: server)
            let victim = try await client.present(.somebody("victim", email: email))
            #expect(victim["user"]["email"].string == email, "\(victim.text)")
            let late = try await client.post(
                "/auth/identities/\(id)/address/verify", ["challengeId": asked["challengeId"], "code": .string(code)],
                bearer: attacker.accessToken)
            expectError(late, 401, "INVALID_CREDENTIALS", "even with the code")
            #expect(try await client.get("/auth/me", bearer: attacker.accessToken)["email"].string == attacker.email)
        }
    }

    @Test func `non-verifying IdP: an unverified address opens no account`() async throws {
        try await TestServer.linking { server, client in
            let email = APIClient.newAddress()
            let attacker = try await client.present(.somebody("attacker", email: email, isTrusted: false))
            #expect(attacker["user"]["email"] == .null && attacker["user"]["emailVerified"] == false)
            let victim = try await client.register(at: server, email: email)
            let again = try await client.present(.somebody("attacker", email: email, isTrusted: false))
            #expect(again["user"]["id"] == attacker["user"]["id"] && again["user"]["id"].string != victim.uid)
            let other = try await client.present(.somebody("second", email: email, isTrusted: false))
            #expect(other["user"]["id"].string != victim.uid, "nor later: \(other.text)")
            #expect(try await client.login(email)["user"]["id"].string == victim.uid)
        }
    }
}
