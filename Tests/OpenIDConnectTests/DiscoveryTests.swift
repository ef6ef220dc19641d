import Foundation
import ProviderKit
import Testing

@testable import OpenIDConnectProvider

@Suite(.timeLimit(.minutes(1))) struct DiscoveryTests {
    @Test func `nothing is fetched at start`() throws {
        let world = World()
        _ = try world.provider()
        #expect(world.service.requests.isEmpty)
    }

    @Test func `a document is kept for an hour, and read once by all who need it`() async throws {
        let world = World()
        let provider = try world.provider()
        try await withThrowingTaskGroup { group in
            for _ in 1...8 { group.addTask { try await provider.authorizationURL(for: World.flow) } }
            try await group.waitForAll()
        }
        world.pass(3599)
        _ = try await provider.authorizationURL(for: World.flow)
        #expect(world.service.requests.count == 1)
        world.pass(1)
        _ = try await provider.authorizationURL(for: World.flow)
        try await world.service.awaitRequests(2)
    }

    @Test(arguments: [("max-age=60", 3600.0), ("public, max-age=7200", 7200), ("max-age=9999999", 86_400)])
    func `the issuer's cache header applies, within limits`(_ header: String, _ seconds: Double) async throws {
        let world = World()
        world.service.answer(World.discoveryURL, headers: ["cache-control": header], World.discovery)
        let provider = try world.provider()
        _ = try await provider.authorizationURL(for: World.flow)
        world.pass(seconds - 1)
        _ = try await provider.authorizationURL(for: World.flow)
        #expect(world.service.requests.count == 1)
        world.pass(1)
        _ = try await provider.authorizationURL(for: World.flow)
        try await world.service.awaitRequests(2)
    }

    @Test func `an issuer that does not answer delays no one while a document is known`() async throws {
        let world = World()
        let provider = try world.provider()
        let claims = World.claims.with(["exp": 1_700_100_000])
        let token = NativeToken(idToken: try world.service.sign(claims), nonce: "n-once")
        _ = try await provider.verify(token)
        world.service.isHanging = true
        world.pass(3600)
        let url = try await withTaskCancellationHandler {
            for _ in 1...8 { _ = try await provider.verify(token) }
            return try await provider.authorizationURL(for: World.flow)
        } onCancel: {
            // Otherwise, a call that waits for the fetch would never end, and the test neither.
            world.service.isHanging = false
        }
        #expect(url.hasPrefix("https://id.example/authorize?"))
        world.pass(60)
        _ = try await provider.authorizationURL(for: World.flow)
        world.service.answer(
            World.discoveryURL, World.discovery.with(["authorization_endpoint": "https://id.example/new"]))
        world.service.isHanging = false
        while try await !provider.authorizationURL(for: World.flow).hasPrefix("https://id.example/new?") {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(world.service.requests(to: World.discoveryURL).count == 2)
    }

    @Test(arguments: [(86_399.0, "https://id.example/authorize"), (86_400, "https://id.example/new")])
    func `a document that expired a day ago is fetched again before it is used`(
        _ age: Double, _ endpoint: String
    ) async throws {
        let world = World()
        let provider = try world.provider()
        _ = try await provider.authorizationURL(for: World.flow)
        world.service.answer(
            World.discoveryURL, World.discovery.with(["authorization_endpoint": "https://id.example/new"]))
        world.pass(3600 + age)
        #expect(try await provider.authorizationURL(for: World.flow).hasPrefix(endpoint + "?"))
    }

    @Test func `the old document stays in use while the issuer is down`() async throws {
        let world = World()
        let provider = try world.provider()
        _ = try await provider.authorizationURL(for: World.flow)
        world.service.isDown = true
        world.pass(100_000)
        for _ in 1...3 { _ = try await provider.authorizationURL(for: World.flow) }
        #expect(world.service.requests.count == 2)
    }

    @Test func `a failure is not repeated within five seconds`() async throws {
        let world = World()
        world.service.isDown = true
        let provider = try world.provider()
        for _ in 1...3 {
            await #expect(throws: ProviderError.unavailable) { try await provider.authorizationURL(for: World.flow) }
        }
        #expect(world.service.requests.count == 1)
        world.service.isDown = false
        world.pass(5)
        _ = try await provider.authorizationURL(for: World.flow)
        #expect(world.service.requests.count == 2)
    }

    @Test(
        arguments: [
            ["issuer": "https://id.example/"], ["issuer": "https://other.example"], ["issuer": nil],
            ["authorization_endpoint": nil], ["token_endpoint": nil], ["jwks_uri": nil], ["jwks_uri": 1],
            ["authorization_endpoint": "javascript:alert(1)"], ["token_endpoint": "http://id.example/token"],
            ["id_token_signing_alg_values_supported": ["HS256", "none"]],
        ] as [[String: JSONValue]])
    func `a document of another issuer, or without required members, is refused`(
        _ change: [String: JSONValue]
    ) async throws {
        let provider = try World(discovery: World.discovery.with(change)).provider()
        await #expect(throws: ProviderError.unavailable) { try await provider.authorizationURL(for: World.flow) }
    }

    @Test func `a malformed document is refused`() async throws {
        let world = World()
        for answer: (Int, JSONValue) in [(404, World.discovery), (500, World.discovery), (200, ["issuer"])] {
            world.service.answer(World.discoveryURL, status: answer.0, answer.1)
            let provider = try world.provider()
            await #expect(throws: ProviderError.unavailable) { try await provider.authorizationURL(for: World.flow) }
        }
    }

    @Test(arguments: [
        ("https://login.microsoftonline.com/common/v2.0", "https://login.microsoftonline.com/{tenantid}/v2.0", true),
        (
            "https://login.microsoftonline.com/organizations/v2.0", "https://login.microsoftonline.com/{tenantid}/v2.0",
            true
        ),
        ("https://login.microsoftonline.com/t-1/v2.0", "https://login.microsoftonline.com/{tenantid}/v2.0", false),
        ("https://login.microsoftonline.com/t-1/v2.0", "https://login.microsoftonline.com/t-1/v2.0", true),
        ("https://id.example/common/v2.0", "https://id.example/{tenantid}/v2.0", false),
        ("https://api.orange.com/openidconnect/fr/v1", "https://openid.orange.fr", true),
        ("https://id.example", "https://openid.orange.fr", false),
    ])
    func `the issuers that a document may name`(_ configured: String, _ named: String, _ isTaken: Bool) async throws {
        let world = World()
        let document = World.discovery.with(["issuer": .string(named)])
        world.service.answer(configured + "/.well-known/openid-configuration", document)
        let provider = try world.provider { $0.issuer = configured }
        let url = try? await provider.authorizationURL(for: World.flow)
        #expect((url != nil) == isTaken)
    }
}

extension ScriptedService {
    /// Waits for this many requests, the last of which comes from a task in the background.
    fileprivate func awaitRequests(_ count: Int) async throws {
        while requests.count < count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
