import Accounts
import Administration
import Foundation
import GatehouseTesting
import ProviderKit
import Synchronization
import Testing

@testable import GatehouseServer

/// What live sign-ins note about the services behind providers.
struct ProviderFindingTests {
    private typealias Issuer = OpenIDConnectSignInTests.Issuer

    private func with(
        _ body: @Sendable @escaping (TestServer, OpenIDConnectSignInTests.Issuer, RedirectClient) async throws -> Void
    ) async throws {
        try await UpstreamServer.with { upstream in
            let issuer = try Issuer(upstream)
            try await TestServer.with(
                application: #"redirectURIs: ["demo://oauth/callback"]"#,
                providers: #"google: { kind: oidc, issuer: "\#(upstream.url)", clientID: client, clientSecret: s }"#,
                admin: "{ application: demo }"
            ) { server in
                var client = RedirectClient(api: APIClient(server))
                client.provider = "google"
                try await body(server, issuer, client)
            }
        }
    }

    /// Signs in with the claims, and the nonce of the flow unless the claims have one.
    private func signIn(
        _ claims: [String: JSONValue], at issuer: Issuer, _ client: RedirectClient
    ) async throws -> String? {
        let flow = try await client.begin()
        let nonce: JSONValue = .string(flow.url.query("nonce") ?? "")
        issuer.claims.withLock { $0 = ["nonce": nonce].merging(claims) { $1 } }
        return try await client.callback(flow, ["code": "c", "iss": issuer.upstream.url]).redirect.query("error")
    }

    @Test func `a token's issuer, audience, times and nonce`() async throws {
        let now = Int64(Date().timeIntervalSince1970)
        for (claims, finding): ([String: JSONValue], ProviderFinding) in [
            (["iss": "https://other.example"], .issuerMismatch), (["aud": "another"], .audienceMismatch),
            (["nonce": "another"], .nonceMismatch), (["iat": .integer(now + 120)], .clockBehind),
            (["iat": .integer(now - 720), "exp": .integer(now - 120)], .clockAhead),
        ] {
            try await with { server, issuer, client in
                let error = try await signIn(claims, at: issuer, client)
                #expect(error == "access_denied", "\(finding)")
                #expect(try await server.counted()[.providerFailures] == ["google/\(finding.rawValue)": 1])
            }
        }
    }

    @Test func `a wrong secret, a token signed by another key, and a missing scope`() async throws {
        try await with { server, issuer, client in
            let token = issuer.upstream.url + "/token"
            let stranger = try TestAuthority(keyID: issuer.signer.keyID).token(issuer.all([:]))
            for answer: JSONValue in [
                ["error": "invalid_client"], ["access_token": "a", "token_type": "Bearer"],
                ["access_token": "a", "token_type": "Bearer", "id_token": .string(stranger)],
            ] {
                issuer.upstream.service.answer(token) { _ in .json(answer, status: answer["error"].isNull ? 200 : 400) }
                _ = try await client.callback(client.begin(), ["code": "c", "iss": issuer.upstream.url])
            }
            #expect(
                try await server.counted()[.providerFailures] == [
                    "google/client.refused": 1, "google/scope.missing": 1, "google/signature.invalid": 1,
                ])
        }
    }

    @Test func `errors in the callback, and a service that is down`() async throws {
        try await with { server, issuer, client in
            for error in ["unauthorized_client", "invalid_scope", "access_denied"] {
                let arrival = try await client.callback(client.begin(), ["error": error]).redirect
                #expect(arrival.query("error") == error)
            }
            let flow = try await client.begin()
            issuer.upstream.service.condition = .failing
            _ = try await client.callback(flow, ["code": "c", "iss": issuer.upstream.url])
            #expect(
                try await server.counted()[.providerFailures] == [
                    "google/client.refused": 1, "google/scope.missing": 1, "google/upstream.error": 1,
                ])
        }
    }

    /// Anybody can send such tokens, so they say nothing about the service.
    @Test func `a token of an app is a finding only if the service has signed it`() async throws {
        try await with { server, issuer, _ in
            func present(_ token: String) async throws {
                let answer = try await APIClient(server).post("/auth/oauth/google/token", ["idToken": .string(token)])
                #expect(answer.status != 404, "\(answer.text)")
            }
            // The keys are fetched for a token that is good.
            let good = try issuer.token()
            try await present(good)
            let forged = try TestAuthority(keyID: issuer.signer.keyID).token(issuer.all(["aud": "another"]))
            try await present(forged)
            try await present("rubbish")
            #expect(try await server.counted()[.providerFailures] == nil)
            try await present(try issuer.token(["aud": "another"]))
            #expect(try await server.counted()[.providerFailures] == ["google/audience.mismatch": 1])
        }
    }

    @Test func `the report of a provider has its findings and the last 24 hours`() async throws {
        try await with { server, issuer, client in
            #expect(try await signIn(["aud": "another"], at: issuer, client) == "access_denied")
            try await server.server.statisticsFlush.run()
            #expect(try await signIn(["aud": "another"], at: issuer, client) == "access_denied")
            let began = Date()
            let health = ProviderHealth(
                store: server.backend.store, statistics: server.backend.statistics,
                findings: server.server.ports.findings, states: NoStates())
            let reports = try await health.reports(of: server.application())
            let report = try #require(reports["google"])
            #expect(report.findings.map(\.finding) == [.audienceMismatch] && report.findings.first?.count == 2)
            let lastSeen = try #require(report.findings.first?.lastSeen)
            #expect(abs(lastSeen.timeIntervalSince(began)) < 30)
            #expect(report.failures == 2 && report.signIns == 0 && report.state == .unknown)
            #expect(reports["email"] == ProviderReport())
        }
    }

    private struct NoStates: UpstreamStates {
        func state(of owner: FindingLog.Owner) -> (isUp: Bool, lastSuccess: Date?)? { nil }
    }
}
