import Foundation
import ProviderKit
import Testing

@testable import OpenIDConnectProvider

/// Tests each preset with responses of the form that its service sends.
struct PresetTests {
    private let world = World()
    private let callback = RedirectCallback(parameters: ["code": "c"])

    private func redirecting(_ kind: String, _ settings: String = "") throws -> any RedirectProvider {
        let type = try #require(ReadyProviders.all.first { $0.kind == kind })
        let provider = try makeProvider(type, #"{"clientID": "client", "clientSecret": "s"\#(settings)}"#, in: world)
        return try #require(provider as? any RedirectProvider)
    }

    /// Publishes a discovery document with the endpoints of the scripted issuer.
    private func publish(at base: String, as issuer: String) {
        let document = World.discovery.with(["issuer": .string(issuer)])
        world.service.answer(base + "/.well-known/openid-configuration", document)
    }

    @Test(
        arguments: [
            ("google", "https://accounts.google.com", nil, "openid email profile"),
            (
                "microsoft", "https://login.microsoftonline.com/common/v2.0",
                "https://login.microsoftonline.com/{tenantid}/v2.0", "openid email profile"
            ),
            ("gitlab", "https://gitlab.com", nil, "openid email profile"),
            ("linkedin", "https://www.linkedin.com/oauth", nil, "openid email profile"),
            ("slack", "https://slack.com", nil, "openid email profile"),
            ("twitch", "https://id.twitch.tv/oauth2", nil, "openid user:read:email"),
            ("orange", "https://api.orange.com/openidconnect/fr/v1", "https://openid.orange.fr", "openid"),
            ("yahoo", "https://api.login.yahoo.com", nil, "openid email profile"),
        ] as [(String, String, String?, String)])
    func `an OpenID Connect service`(_ kind: String, _ base: String, _ issuer: String?, _ scope: String) async throws {
        publish(at: base, as: issuer ?? base)
        let provider = try redirecting(kind)
        let query = try await provider.authorizationURL(for: World.flow).query
        #expect(query["client_id"] == "client" && query["scope"] == scope)
        #expect((query["code_challenge"] == nil) == (kind == "linkedin"))
        #expect(query["claims"]?.contains("email_verified") ?? false == (kind == "twitch"))

        let own = (issuer ?? base).replacing("{tenantid}", with: "t-1")
        try world.grant(World.claims.with(["iss": .string(own), "tid": "t-1", "preferred_username": "jo"]))
        let identity = try await provider.complete(callback, of: World.flow)
        #expect(identity.providerUid == "u-1")
        let email = kind == "orange" ? nil : kind == "microsoft" ? "jo@example.com" : "jo@example.com verified"
        #expect(identity.email == email)
    }

    @Test(
        arguments: [
            (
                "github", "https://github.com/login/oauth/authorize", "https://github.com/login/oauth/access_token",
                "https://api.github.com/user",
                ["id": 583231, "login": "octocat", "name": nil, "email": "public@example.com"], "583231", nil
            ),
            (
                "facebook", "https://www.facebook.com/dialog/oauth", "https://graph.facebook.com/oauth/access_token",
                "https://graph.facebook.com/me?fields=id,name,email,picture",
                [
                    "id": "10", "name": "Jo", "email": "jo@example.com",
                    "picture": ["data": ["url": "https://p.example"]],
                ],
                "10", "jo@example.com"
            ),
            (
                "discord", "https://discord.com/oauth2/authorize", "https://discord.com/api/oauth2/token",
                "https://discord.com/api/users/@me",
                [
                    "id": "80351110224678912", "username": "nelly", "global_name": "Nelly", "email": "jo@example.com",
                    "verified": true,
                ], "80351110224678912", "jo@example.com verified"
            ),
            (
                "spotify", "https://accounts.spotify.com/authorize", "https://accounts.spotify.com/api/token",
                "https://api.spotify.com/v1/me", ["id": "jo", "display_name": "Jo", "email": "jo@example.com"], "jo",
                "jo@example.com"
            ),
            (
                "amazon", "https://www.amazon.com/ap/oa", "https://api.amazon.com/auth/o2/token",
                "https://api.amazon.com/user/profile",
                ["user_id": "amzn1.account.K2LI23KL2LK2", "name": "Jo", "email": "jo@example.com"],
                "amzn1.account.K2LI23KL2LK2", "jo@example.com"
            ),
        ] as [(String, String, String, String, JSONValue, String, String?)])
    func `an OAuth 2.0 service`(
        _ kind: String, _ page: String, _ token: String, _ url: String, _ profile: JSONValue, _ providerUid: String,
        _ email: String?
    ) async throws {
        let provider = try redirecting(kind)
        let start = try await provider.authorizationURL(for: World.flow)
        #expect(start.hasPrefix(page + "?") && start.query["state"] == "our state")
        world.service.answer(token, ["access_token": "at", "token_type": "bearer"])
        world.service.answer(url, profile)
        world.service.answer("https://api.github.com/user/emails", status: 404, ["message": "Not Found"])
        let identity = try await provider.complete(callback, of: World.flow)
        #expect(identity.providerUid == providerUid && identity.email == email)
    }

    @Test func `GitHub's addresses come from its list, and own nothing unless trusted`() async throws {
        world.service.answer(
            "https://github.com/login/oauth/access_token", ["access_token": "at", "token_type": "bearer"])
        world.service.answer("https://api.github.com/user", ["id": 1, "email": "victim@example.com"])
        world.service.answer(
            "https://api.github.com/user/emails",
            [["email": "jo@example.com", "primary": true, "verified": true, "visibility": nil]])
        let cautious = try await redirecting("github").complete(callback, of: World.flow)
        #expect(cautious.email == "jo@example.com verified")
        let trusting = try await redirecting("github", #", "trustEmail": true"#).complete(callback, of: World.flow)
        #expect(trusting.email == "jo@example.com verified authoritative")
        let off = try await redirecting("github", #", "claims": {"email": null}"#).complete(callback, of: World.flow)
        #expect(off.email == nil)
        #expect(world.service.requests(to: "https://api.github.com/user").first?.headers["User-Agent"] != nil)
    }

    @Test func `a base URL moves Google's preset to another host`() async throws {
        publish(at: "https://fake.example", as: "https://fake.example")
        let provider = try redirecting(
            "google", #", "baseURL": "https://fake.example/", "hostedDomains": ["a.example"]"#)
        #expect(try await provider.authorizationURL(for: World.flow).query["hd"] == "a.example")
        try world.grant(World.claims.with(["iss": "https://fake.example", "email": "jo@a.example", "hd": "a.example"]))
        let identity = try await provider.complete(callback, of: World.flow)
        #expect(identity.email == "jo@a.example verified authoritative")
    }

    @Test func `a base URL moves Microsoft's preset, and one tenant has its own issuer`() async throws {
        publish(at: "https://fake.example/common/v2.0", as: "https://fake.example/{tenantid}/v2.0")
        let any = try redirecting("microsoft", #", "baseURL": "https://fake.example", "trustEmail": true"#)
        let claims = World.claims.with(["iss": "https://fake.example/t-1/v2.0", "tid": "t-1"])
        try world.grant(claims)
        #expect(try await any.complete(callback, of: World.flow).email == "jo@example.com")
        try world.grant(claims.with(["xms_edov": true]))
        #expect(try await any.complete(callback, of: World.flow).email == "jo@example.com verified authoritative")

        publish(at: "https://fake.example/t-1/v2.0", as: "https://fake.example/t-1/v2.0")
        let one = try redirecting("microsoft", #", "baseURL": "https://fake.example", "tenants": ["T-1"]"#)
        #expect(try await one.complete(callback, of: World.flow).profile["tid"] == "t-1")
    }

    @Test func `GitLab's preset accepts a base URL of one's own`() async throws {
        publish(at: "https://git.example", as: "https://git.example")
        let provider = try redirecting("gitlab", #", "baseURL": "https://git.example""#)
        #expect(try await provider.authorizationURL(for: World.flow).query["state"] == "our state")
    }

    @Test func `LinkedIn gets no verifier and the secret in the form, and its tokens have no nonce`()
        async throws
    {
        publish(at: "https://www.linkedin.com/oauth", as: "https://www.linkedin.com/oauth")
        try world.grant(World.claims.with(["iss": "https://www.linkedin.com/oauth", "nonce": nil]))
        _ = try await redirecting("linkedin").complete(callback, of: World.flow)
        let form = try #require(world.service.requests(to: "https://id.example/token").first?.form)
        #expect(form["code_verifier"] == nil && form["client_secret"] == "s")
    }
}
