import Accounts
import Delivery
import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// A secret is refused at endpoints that accept other kinds of secrets.
struct OneTimeSecretTests {
    private enum Kind: String, CaseIterable {
        case registration, signInLink, passwordReset, restore, redirectCode, refresh, access, mailedCode, mailChallenge
        case textedCode, textChallenge, invitation, recovery
    }

    /// An endpoint that accepts secrets, and the kinds that it accepts.
    private enum Place: String, CaseIterable {
        case verifyEmail, resetPassword, restore, token, refresh, mailChallenge, textChallenge, bearer
        case invitation, recovery

        var own: Set<Kind> {
            switch self {
            case .verifyEmail: [.registration, .signInLink]
            case .resetPassword: [.passwordReset]
            case .restore: [.restore]
            case .token: [.redirectCode]
            case .refresh: [.refresh]
            case .mailChallenge: [.mailChallenge]
            case .textChallenge: [.textChallenge]
            case .bearer: [.access]
            case .invitation: [.invitation]
            case .recovery: [.recovery]
            }
        }
    }

    private struct World: Sendable {
        let server: TestServer
        let client: APIClient
        let web: RedirectClient
        let secrets: [Kind: String]
        /// The person whose session calls the endpoint for logging out.
        let principal: Person

        func present(_ secret: String, at place: Place) async throws -> APIClient.Answer {
            let text = JSONValue.string(secret)
            switch place {
            case .verifyEmail: return try await client.verify(secret)
            case .resetPassword: return try await client.reset(secret, to: APIClient.thirdPassword)
            case .restore: return try await client.post("/auth/account/restore", ["restoreToken": text])
            case .token: return try await web.redeem(secret)
            case .refresh: return try await client.refresh(secret)
            // A challenge is presented together with its own code.
            case .mailChallenge: return try await answer("email", secret, secrets[.mailedCode])
            case .textChallenge: return try await answer("phone", secret, secrets[.textedCode])
            case .bearer: return try await client.get("/auth/me", bearer: secret)
            case .invitation: return try await client.accept(secret)
            case .recovery: return try await client.recover(secret, ["newPassword": .string(APIClient.thirdPassword)])
            }
        }

        func answer(_ channel: String, _ challenge: String?, _ code: String?) async throws -> APIClient.Answer {
            try await client.post(
                "/auth/\(channel)/otp/verify",
                ["challengeId": .string(challenge ?? ""), "code": .string(code ?? "")])
        }
    }

    private func with(_ body: @Sendable @escaping (World) async throws -> Void) async throws {
        try await TestServer.with(
            application: RedirectFlowTests.application,
            providers: "scripted: {}\nphone: { allowedCountries: [FR] }", admin: "{ application: demo }"
        ) { server in
            let client = APIClient(server)
            let web = RedirectClient(api: client)
            var secrets: [Kind: String] = [:]
            secrets[.registration] = try await client.pend(at: server, APIClient.newAddress())
            secrets[.passwordReset] = try await client.forget(at: server, try await client.register(at: server).email)

            let email = APIClient.newAddress()
            let mailed = try await client.post("/auth/email/otp", ["email": .string(email)])
            let mail = try #require(try await client.mails(to: email, at: server, count: 1).first)
            secrets[.mailChallenge] = mailed["challengeId"].string
            secrets[.mailedCode] = mail.text.code
            secrets[.signInLink] = try await client.mailedToken(to: email, at: server)

            let texted = try await client.post("/auth/phone/otp", ["phone": "+33612345678"])
            let text = try #require(try await client.mails(to: "+33612345678", at: server, count: 1).first)
            secrets[.textChallenge] = texted["challengeId"].string
            secrets[.textedCode] = text.text.firstMatch(of: /[0-9]{6}/).map { String($0.output) }

            let leaving = try await client.register(at: server)
            #expect(try await client.delete("/auth/account", bearer: leaving.accessToken).status == 204)
            secrets[.restore] =
                try await client.login(leaving.email)["error"]["details"]["restoreToken"].string
            secrets[.redirectCode] = try await web.arrive(web.begin(), with: .somebody()).query("code")
            let guest = try await client.guest()
            secrets[.refresh] = guest.refreshToken
            secrets[.access] = guest.accessToken
            let key = try await server.serviceKey()
            secrets[.invitation] = try await client.invitation(to: APIClient.newAddress(), by: key, at: server)
            let owner = try await client.register(at: server)
            secrets[.recovery] = try await client.recovery(of: owner, by: key, at: server)
            try #require(Set(secrets.keys) == Set(Kind.allCases), "\(secrets.keys)")
            try await body(
                World(server: server, client: client, web: web, secrets: secrets, principal: try await client.guest()))
        }
    }

    @Test func `each secret is refused at other endpoints and still works at its own`() async throws {
        try await with { world in
            for place in Place.allCases {
                for (kind, secret) in world.secrets where !place.own.contains(kind) {
                    let answer = try await world.present(secret, at: place)
                    expectRefusal(answer, "\(kind) at \(place)")
                    #expect([400, 401].contains(answer.status), "\(kind) at \(place): \(answer.status)")
                }
            }
            // A logout answers 204 for every token that is not a refresh token of the caller, and ignores it.
            for secret in world.secrets.values {
                let body: JSONValue = ["refreshToken": .string(secret), "scope": "others"]
                let answer = try await world.client.post("/auth/logout", body, bearer: world.principal.accessToken)
                #expect(answer.status == 204)
            }
            // Each challenge counts three wrong attempts: the other channel's code and two values that are no codes.
            let secrets = world.secrets
            for (channel, challenge, code) in [
                ("email", Kind.mailChallenge, Kind.textedCode), ("phone", .textChallenge, .mailedCode),
                ("email", .mailChallenge, .signInLink), ("phone", .textChallenge, .registration),
                ("email", .mailChallenge, .mailChallenge), ("phone", .textChallenge, .textChallenge),
            ] {
                expectError(
                    try await world.answer(channel, secrets[challenge], secrets[code]), 401, "INVALID_CREDENTIALS",
                    "\(code) at \(challenge)")
            }
            // Presents a challenge with its correct code at the other channel's endpoint.
            for (channel, challenge, code) in [
                ("phone", Kind.mailChallenge, Kind.mailedCode), ("email", .textChallenge, .textedCode),
            ] {
                expectError(
                    try await world.answer(channel, secrets[challenge], secrets[code]), 401, "INVALID_CREDENTIALS",
                    "\(challenge) at \(channel)")
            }

            // The mailed code is not presented, because that would also use up the sign-in link in the same mail.
            #expect(try await world.answer("phone", secrets[.textChallenge], secrets[.textedCode]).status == 200)
            for (kind, place, status) in [
                (Kind.access, Place.bearer, 200), (.registration, .verifyEmail, 200),
                (.passwordReset, .resetPassword, 204), (.restore, .restore, 200), (.redirectCode, .token, 200),
                (.refresh, .refresh, 200), (.signInLink, .verifyEmail, 200), (.invitation, .invitation, 200),
                (.recovery, .recovery, 200),
            ] {
                let answer = try await world.present(try #require(secrets[kind]), at: place)
                #expect(answer.status == status, "\(kind): \(answer.status) \(answer.text)")
            }
        }
    }

    @Test func `a mailed code still works after its challenge was presented at all other endpoints`() async throws {
        try await with { world in
            let challenge = try #require(world.secrets[.mailChallenge])
            for place in Place.allCases where place != .mailChallenge {
                expectRefusal(try await world.present(challenge, at: place), "\(place)")
            }
            #expect(try await world.answer("email", challenge, world.secrets[.mailedCode]).status == 200)
        }
    }
}

extension String {
    /// Returns the code, which is alone on its line.
    var code: String? {
        let lines: [Substring] = split { $0.isNewline }
        return lines.first { $0.count == 6 && $0.allSatisfy(\.isNumber) }.map { String($0) }
    }
}
