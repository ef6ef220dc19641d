import Accounts
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// Re-authentication needs a proof that is as recent as sensitive calls require.
struct StepUpTests {
    private static let uris = "redirectURIs: [\"demo://oauth/callback\"]"

    private func reauthenticate(
        _ redirect: RedirectClient, _ arrival: URLComponents, bearer: String
    ) async throws -> APIClient.Answer {
        try await redirect.api.post(
            "/auth/reauthenticate",
            [
                "provider": "scripted", "code": .string(arrival.query("code") ?? ""),
                "state": .string(arrival.query("state") ?? ""), "redirect_uri": .string(redirect.redirectURI),
                "codeVerifier": .string(redirect.verifier),
            ], bearer: bearer)
    }

    private func authenticationAge(_ answer: APIClient.Answer) throws -> Int {
        let time = try DecodedToken(answer["accessToken"].string ?? "").claims["auth_time"].integer ?? 0
        return Int(Date().timeIntervalSince1970) - Int(time)
    }

    private func somebody(_ subject: String, authenticated age: TimeInterval) -> VerifiedIdentity {
        var evidence = VerifiedIdentity.somebody(subject)
        evidence.authenticatedAt = Date() - age
        return evidence
    }

    @Test func `a flow requires a login at the provider and uses its time`() async throws {
        try await TestServer.linking(application: Self.uris) { server, client in
            let redirect = RedirectClient(api: client)
            let person = try await client.newcomer("ada")
            let flow = try await redirect.begin(bearer: person.accessToken)
            #expect(flow.url.query("prompt") == "login")
            let arrival = try await redirect.arrive(flow, with: somebody("ada", authenticated: 4000))
            let answer = try await reauthenticate(redirect, arrival, bearer: person.accessToken)
            #expect(answer.status == 200 && answer["user"]["id"].string == person.uid, "\(answer.text)")
            #expect(try abs(authenticationAge(answer) - 4000) < 60)
            expectError(
                try await client.link(.somebody(), bearer: answer["accessToken"].string ?? ""), 403, "TOKEN_TOO_OLD")
        }
    }

    @Test func `a flow without a fresh login does not re-authenticate`() async throws {
        try await TestServer.linking(application: Self.uris) { server, client in
            let redirect = RedirectClient(api: client)
            let person = try await client.newcomer("ada")
            let arrival = try await redirect.arrive(redirect.begin(), with: somebody("ada", authenticated: 1))
            expectError(
                try await reauthenticate(redirect, arrival, bearer: person.accessToken), 401, "INVALID_TOKEN",
                "a sign-in")
            #expect(
                try await redirect.redeem(arrival.query("code")).status == 200, "what the code is for, it still does")

            let begun = try await client.post(
                "/auth/identities/scripted/authorize",
                [
                    "redirect_uri": .string(redirect.redirectURI),
                    "code_challenge": .string(CodeChallenge.s256(of: redirect.verifier)),
                ], bearer: person.accessToken)
            let url = try #require(begun["url"].string.flatMap { URLComponents(string: $0) }, "\(begun.text)")
            let linking = try await redirect.arrive(
                RedirectClient.Flow(authorization: begun, url: url, cookie: nil),
                with: somebody("ada", authenticated: 1))
            expectError(
                try await reauthenticate(redirect, linking, bearer: person.accessToken), 401, "INVALID_TOKEN", "a link")
        }
    }

    @Test func `a flow whose provider states no time does not re-authenticate`() async throws {
        try await TestServer.linking(application: Self.uris) { server, client in
            let redirect = RedirectClient(api: client)
            let person = try await client.newcomer("ada")
            let arrival = try await redirect.arrive(
                redirect.begin(bearer: person.accessToken), with: .somebody("ada"))
            expectRefusal(
                try await reauthenticate(redirect, arrival, bearer: person.accessToken), 401, "INVALID_TOKEN",
                rule: "reauthentication.no-time")
            expectError(try await reauthenticate(redirect, arrival, bearer: person.accessToken), 401, "INVALID_TOKEN")
            #expect(try await server.liveSessions(of: person.uid) == 1)
        }
    }

    @Test func `at a service that never states a time, the begin of the flow counts`() async throws {
        try await TestServer.linking(application: Self.uris) { server, client in
            let redirect = RedirectClient(api: client)
            let person = try await client.newcomer("ada")
            let flow = try await redirect.begin(bearer: person.accessToken)
            try await server.age("redirect_flows", "created_at", by: "500 seconds")
            let arrival = try await redirect.arrive(flow, with: .somebody("ada"), ["time": "begin"])
            let answer = try await reauthenticate(redirect, arrival, bearer: person.accessToken)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try abs(authenticationAge(answer) - 500) < 60)
        }
    }

    @Test(arguments: ["idToken", "proof"])
    func `an old token signs in, and does not re-authenticate`(field: String) async throws {
        try await TestServer.linking(application: "recentAuthentication: 100s") { server, client in
            let person = try await client.newcomer("ada")
            func present(_ evidence: VerifiedIdentity) async throws -> APIClient.Answer {
                try await client.post(
                    "/auth/reauthenticate", ["provider": "scripted", .init(field): .string(evidence.proof)],
                    bearer: person.accessToken)
            }
            let old = somebody("ada", authenticated: 102)
            #expect(try await client.present(old).status == 200)
            let sessions = try await server.liveSessions(of: person.uid)
            expectError(try await present(old), 403, "TOKEN_TOO_OLD")
            #expect(try await server.liveSessions(of: person.uid) == sessions)
            let fresh = try await present(somebody("ada", authenticated: 50))
            #expect(fresh.status == 200, "\(fresh.text)")
            #expect(try (49...90).contains(authenticationAge(fresh)), "what is left of it, not all over again")
        }
    }

    @Test func `a token without a nonce re-authenticates once, however often it signs in`() async throws {
        try await TestServer.linking { server, client in
            let person = try await client.newcomer("ada")
            var evidence = somebody("ada", authenticated: 1)
            evidence.singleReauthentication = SingleUse(id: "token", expires: Date() + 300)
            let token = evidence
            for _ in 1...2 { #expect(try await client.present(token).status == 200) }
            let answers = try await atOnce(20) { try await client.reauthenticate(token, bearer: person.accessToken) }
            #expect(answers.count { $0.status == 200 } == 1)
            #expect(answers.count { $0.code == "INVALID_TOKEN" } == 19, "\(answers.map(\.text))")
            #expect(try await client.present(token).status == 200, "signing in stays as it was")
        }
    }
}
