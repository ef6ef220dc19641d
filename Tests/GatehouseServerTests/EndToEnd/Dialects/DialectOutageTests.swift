import Foundation
import GatehouseTesting
import NIOHTTP1
import ProviderKit
import Testing

/// What apps of dialects get, and what is logged, while a provider does not answer.
struct DialectOutageTests {
    private static let busy = "The server is busy. Please try again."

    private static let application = """
        redirectURIs: [{ uri: "\(TimeTrackerApp.redirectURI)", pkce: false }, "\(ImmichApp.redirectURI)"]
        dialects:
          timetracker: { provider: company, session: access }
          immich: { provider: company, redirectURI: "\(ImmichApp.redirectURI)" }
        """

    @Test func `a provider that does not answer is logged, whichever dialect reports it`() async throws {
        try await UpstreamServer.with { upstream in
            upstream.service.condition = .down
            let log = CollectedLog()
            try await TestServer.with(
                application: Self.application,
                providers: "company: { kind: oidc, issuer: \"\(upstream.url)\", clientID: c, clientSecret: hush }",
                logger: log.logger
            ) { server in
                let (tracker, immich) = (
                    TimeTrackerApp(api: APIClient(server)), ImmichApp(api: APIClient(server))
                )
                @Sendable func logged() -> Int {
                    log.lines.count { $0.hasPrefix("warning Request not served") }
                }
                /// The lines that name the provider and the cause, and not its secret.
                @Sendable func named() -> Int {
                    log.lines.count { line in
                        line.hasPrefix("warning A provider does not answer")
                            && ["demo", "company", "upstream.error"].allSatisfy(line.contains)
                            && !line.contains("hush")
                    }
                }
                let challenge = CodeChallenge.s256(of: immich.verifier)
                let asked = try await immich.call(
                    .GET, "/oauth/authorize?code_challenge=\(challenge)&code_challenge_method=S256&state=s")
                expectImmich(asked, 503, "PROVIDER_UNAVAILABLE", Self.busy)
                #expect(logged() == 1 && named() == 1)
                expectImmich(try await immich.authorize(), 503, "PROVIDER_UNAVAILABLE", Self.busy)
                #expect(logged() == 2 && named() == 2, "the second may be refused before it is made")
                let page = try await tracker.login()
                #expect(page.status == 503 && page.retryAfter != nil, "\(page.text)")
                #expect(page.text.contains("<html"))
                #expect(logged() == 3 && named() == 3)
            }
        }
    }

    @Test func `while the database does not answer, people read that the server is busy`() async throws {
        try await Replicas.with(
            application: Self.application, providers: "company: { kind: scripted }",
            rateLimits: "{ general: 100000/h, login: 100000/h }"
        ) { replicas in
            let client = replicas.clients.second
            let (tracker, immich) = (TimeTrackerApp(api: client), ImmichApp(api: client))
            let url = "\(ImmichApp.redirectURI)?code=unknown&state=unknown"
            #expect(try await tracker.exchange([:]).status == 400)
            #expect(try await immich.callback(url).status == 400)
            try await replicas.cutOff()
            let refused = try await tracker.exchange([:])
            expectFailure(refused, 503, Self.busy)
            #expect(refused.retryAfter != nil)
            expectImmich(try await immich.callback(url), 503, "OVERLOADED", Self.busy)
            expectImmich(try await immich.login("nobody@example.com"), 503, "OVERLOADED", Self.busy)
            try await replicas.readmit()
            try await eventually("limits are counted again") { try await tracker.exchange([:]).status == 400 }
        }
    }
}
