import Accounts
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// Linking and re-authenticating through a provider's pages.
struct RedirectLinkTests {
    private func begin(
        _ redirect: RedirectClient, linking bearer: String, state: String? = nil
    ) async throws -> RedirectClient.Flow {
        var body: [String: JSONValue] = [
            "redirect_uri": .string(redirect.redirectURI),
            "code_challenge": .string(CodeChallenge.s256(of: redirect.verifier)),
        ]
        body["state"] = state.map { .string($0) }
        let answer = try await redirect.api.post(
            "/auth/identities/scripted/authorize", .object(body), bearer: bearer)
        try #require(answer.status == 200, "\(answer.text)")
        let url = try #require(answer["url"].string.flatMap { URLComponents(string: $0) })
        return RedirectClient.Flow(authorization: answer, url: url, cookie: nil)
    }

    private static let uris = "redirectURIs: [\"demo://oauth/callback\", {uri: \"plain://x\", pkce: false}]"

    @Test func `a flow links for the session that began it`() async throws {
        try await TestServer.linking(application: Self.uris) { server, client in
            let redirect = RedirectClient(api: client)
            let person = try await client.register(at: server)
            let flow = try await begin(redirect, linking: person.accessToken, state: "mine")
            #expect(flow.url.query("prompt") == nil, "linking requires no new login at the provider")
            #expect(flow.authorization["state"] == "mine")
            let arrival = try await redirect.arrive(flow, with: .somebody("ada"))
            let linked = try await client.post(
                "/auth/identities/scripted", .object(redirect.proof(of: arrival)), bearer: person.accessToken)
            #expect(linked.status == 200 && linked["user"]["id"].string == person.uid, "\(linked.text)")
            #expect(linked["user"]["authProviders"] == ["email", "scripted"])
            expectError(
                try await client.post(
                    "/auth/identities/scripted", .object(redirect.proof(of: arrival)), bearer: person.accessToken), 401,
                "INVALID_TOKEN", "again")
        }
    }

    @Test(arguments: [true, false]) func `a late replay of a code ends the session that a link opened`(
        atSignIn isAtSignIn: Bool
    ) async throws {
        try await TestServer.linking(application: Self.uris) { server, client in
            let redirect = RedirectClient(api: client)
            let person = try await client.register(at: server)
            let flow = try await begin(redirect, linking: person.accessToken)
            let arrival = try await redirect.arrive(flow, with: .somebody("ada"))
            let linked = try await client.post(
                "/auth/identities/scripted", .object(redirect.proof(of: arrival)), bearer: person.accessToken)
            let bearer = try #require(linked["accessToken"].string)
            func replay() async throws -> APIClient.Answer {
                isAtSignIn
                    ? try await redirect.redeem(arrival.query("code"))
                    : try await client.post(
                        "/auth/identities/scripted", .object(redirect.proof(of: arrival)), bearer: person.accessToken)
            }
            expectError(try await replay(), 401, "INVALID_TOKEN", "a double click")
            #expect(try await client.get("/auth/me", bearer: bearer).status == 200)
            try await server.age("redirect_flows", "redeemed_at", by: "3 seconds")
            expectError(try await replay(), 401, "INVALID_TOKEN")
            expectError(try await client.get("/auth/me", bearer: bearer), 401, "INVALID_TOKEN")
            #expect(try await client.get("/auth/me", bearer: person.accessToken).status == 200)
        }
    }

    @Test func `a URL that is sent to a victim links nothing`() async throws {
        try await TestServer.linking(application: Self.uris) { server, client in
            var redirect = RedirectClient(api: client)
            let (mallory, victim) = (try await client.newcomer("mallory"), try await client.newcomer("victim"))
            // An attacker's own flow, which the victim's app is made to finish.
            let flow = try await begin(redirect, linking: mallory.accessToken)
            let arrival = try await redirect.arrive(flow, with: .somebody("malice"))
            for bearer in [victim.accessToken, nil] {
                expectError(
                    try await client.post(
                        "/auth/identities/scripted", .object(redirect.proof(of: arrival)), bearer: bearer),
                    401, "INVALID_TOKEN")
            }
            expectError(try await redirect.redeem(arrival.query("code")), 401, "INVALID_TOKEN", "at sign-in")
            // A sign-in flow of an app that does not use PKCE.
            redirect.redirectURI = "plain://x"
            let plain = try await redirect.begin(omitting: ["code_challenge", "code_challenge_method"])
            let stray = try await redirect.arrive(plain, with: .somebody("malice"))
            var unproven = redirect.proof(of: stray)
            unproven["codeVerifier"] = nil
            expectError(
                try await client.post("/auth/identities/scripted", .object(unproven), bearer: victim.accessToken), 401,
                "INVALID_TOKEN", "an unbound flow")
            #expect(try await client.identities(bearer: victim.accessToken).count == 1)
        }
    }

    @Test func `a flow can wait for a re-authentication`() async throws {
        try await TestServer.linking(application: Self.uris) { server, client in
            let redirect = RedirectClient(api: client)
            let person = try await client.newcomer("ada")
            let flow = try await begin(redirect, linking: person.accessToken)
            let arrival = try await redirect.arrive(flow, with: .somebody("bob"))
            let fresh = try await client.reauthenticate(.somebody("ada"), bearer: person.accessToken)
            let linked = try await client.post(
                "/auth/identities/scripted", .object(redirect.proof(of: arrival)), bearer: fresh["accessToken"].string)
            #expect(linked.status == 200 && linked["user"]["id"].string == person.uid, "\(linked.text)")
        }
    }

    @Test func `a wrong verifier uses up the code, and another provider's path refuses it`() async throws {
        try await TestServer.linking(application: Self.uris, providers: "other: { kind: scripted }") { server, client in
            let redirect = RedirectClient(api: client)
            let person = try await client.newcomer("ada")
            let arrival = try await redirect.arrive(
                begin(redirect, linking: person.accessToken), with: .somebody("bob"))
            let wrong = redirect.proof(of: arrival, verifier: String(repeating: "x", count: 43))
            for body in [wrong, redirect.proof(of: arrival)] {
                expectError(
                    try await client.post("/auth/identities/scripted", .object(body), bearer: person.accessToken), 401,
                    "INVALID_TOKEN")
            }
            let second = try await redirect.arrive(begin(redirect, linking: person.accessToken), with: .somebody("bob"))
            expectError(
                try await client.post(
                    "/auth/identities/other", .object(redirect.proof(of: second)), bearer: person.accessToken), 401,
                "INVALID_TOKEN", "another provider")
        }
    }
}
