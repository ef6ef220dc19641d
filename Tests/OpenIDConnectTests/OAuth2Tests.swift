import Foundation
import ProviderKit
import Testing

@testable import OpenIDConnectProvider

struct OAuth2Tests {
    private let world = World()

    private func provider(_ change: (inout OAuth2Provider.Settings) -> Void = { _ in }) throws -> OAuth2Provider {
        var settings = OAuth2Provider.Settings(
            authorizationEndpoint: "https://corp.example/a?realm=x", tokenEndpoint: "https://corp.example/t",
            userInfoEndpoint: "https://corp.example/u", clientID: "client", clientSecret: "secret",
            scopes: ["email", "profile"],
            claims: ["providerUid": "id", "email": "mail", "emailVerified": nil, "displayName": "name"])
        change(&settings)
        return try OAuth2Provider(settings: settings, context: world.context)
    }

    private func signIn(
        profile: JSONValue, answer: [String: JSONValue] = [:], to provider: OAuth2Provider
    ) async throws -> VerifiedIdentity {
        let token: JSONValue = ["access_token": "at", "token_type": "bearer"]
        world.service.answer("https://corp.example/t", token.with(answer))
        world.service.answer("https://corp.example/u", profile)
        return try await provider.complete(RedirectCallback(parameters: ["code": "c"]), of: World.flow)
    }

    @Test func `the authorization URL`() async throws {
        let url = try await provider().authorizationURL(for: World.flow)
        #expect(
            url.query == [
                "realm": "x", "response_type": "code", "client_id": "client",
                "redirect_uri": "https://gate.example/back", "scope": "email profile", "state": "our state",
                "code_challenge": CodeChallenge.s256(of: "verifier"), "code_challenge_method": "S256",
            ])
        let plain = try await provider { $0.pkce = false }.authorizationURL(for: World.flow)
        #expect(plain.query["code_challenge"] == nil)
    }

    @Test func `how the code is exchanged and the profile read`() async throws {
        _ = try await signIn(profile: ["id": "7"], to: provider())
        _ = try await signIn(
            profile: ["id": "7"],
            to: provider {
                $0.pkce = false
                $0.clientAuthentication = "post"
            })
        let tokens = world.service.requests(to: "https://corp.example/t")
        #expect(tokens.first?.headers["Authorization"] == "Basic Y2xpZW50OnNlY3JldA==")
        #expect(tokens.first?.form?["code_verifier"] == "verifier")
        #expect(
            tokens.last?.form == [
                "grant_type": "authorization_code", "code": "c", "redirect_uri": "https://gate.example/back",
                "client_id": "client", "client_secret": "secret",
            ])
        #expect(world.service.requests.last?.headers["Authorization"] == "Bearer at")
    }

    @Test func `the start of the flow counts as the time of the sign-in`() async throws {
        let provider = try provider()
        #expect(try await signIn(profile: ["id": "7"], to: provider).authenticatedAt == nil)
        let began = Date(timeIntervalSince1970: 1_699_999_900)
        let flow = RedirectFlow(
            state: "s", nonce: "n", codeVerifier: "v", callbackURL: "https://gate.example/back",
            requiresFreshLogin: true, beganAt: began)
        let identity = try await provider.complete(RedirectCallback(parameters: ["code": "c"]), of: flow)
        #expect(identity.authenticatedAt == began)
    }

    @Test(
        arguments: [
            ("id", ["id": "7"], "7"), ("id", ["id": 7], "7"), ("data.user.id", ["data": ["user": ["id": "x"]]], "x"),
            ("ids.1", ["ids": ["a", "b"]], "b"), ("id", [:], nil), ("id", ["id": ""], nil), ("id", ["id": nil], nil),
            ("id", ["id": true], nil), ("id", ["id": ["7"]], nil), ("id.x", ["id": "7"], nil),
        ] as [(String, JSONValue, String?)])
    func `the subject of the identity`(_ path: String, _ profile: JSONValue, _ providerUid: String?) async throws {
        let provider = try provider { $0.claims["providerUid"] = path }
        let identity = try? await signIn(profile: profile, to: provider)
        #expect(identity?.providerUid == providerUid)
    }

    @Test(
        arguments: [
            (nil, nil, ["ok": true], "a@b.example"), (nil, true, ["ok": true], "a@b.example"),
            ("ok", nil, ["ok": true], "a@b.example verified"), ("ok", true, ["ok": "true"], "a@b.example"),
            ("ok", true, ["ok": true], "a@b.example verified authoritative"), ("ok", true, [:], "a@b.example"),
        ] as [(String?, Bool?, [String: JSONValue], String)])
    func `an address`(
        _ path: String?, _ trustEmail: Bool?, _ profile: [String: JSONValue], _ email: String
    ) async throws {
        let provider = try provider {
            $0.claims["emailVerified"] = .some(path)
            $0.trustEmail = trustEmail
        }
        let standard: JSONValue = ["id": 1, "mail": "a@b.example", "name": "Al"]
        let identity = try await signIn(profile: standard.with(profile), to: provider)
        #expect(identity.email == email && identity.displayName == "Al" && identity.methods == ["fed"])
    }

    @Test(
        arguments: [
            (["error": "bad_verification_code"], .refused), (["token_type": "mac"], .refused),
            (["access_token": nil], .unavailable), (["access_token": ""], .unavailable),
        ] as [([String: JSONValue], ProviderError)])
    func `an unusable response is an error`(_ answer: [String: JSONValue], _ error: ProviderError) async throws {
        let provider = try provider()
        await #expect(throws: error) { try await signIn(profile: ["id": "7"], answer: answer, to: provider) }
    }

    @Test(arguments: ["t", "u"]) func `an invalid response counts as an outage`(_ endpoint: String) async throws {
        let provider = try provider()
        for nonsense: JSONValue in [["a", "b"], "text", 7] {
            _ = try await signIn(profile: ["id": "7"], to: provider)
            world.service.answer("https://corp.example/\(endpoint)", nonsense)
            await #expect(throws: ProviderError.unavailable) {
                try await provider.complete(RedirectCallback(parameters: ["code": "c"]), of: World.flow)
            }
        }
    }

    @Test func `exposed claims are the profile's, by the service's own names`() async throws {
        let settings = OAuth2Provider.Settings(
            authorizationEndpoint: "https://corp.example/a", tokenEndpoint: "https://corp.example/t",
            userInfoEndpoint: "https://corp.example/u", clientID: "client", clientSecret: "secret",
            claims: ["providerUid": "id", "team": "org.team"])
        let provider = try OAuth2Provider(
            settings: settings, context: world.context(exposing: ["login", "team", "gone"]))
        let identity = try await signIn(
            profile: ["id": "7", "login": "ada", "org": ["team": "red"], "hidden": true], to: provider)
        #expect(identity.profile == ["login": "ada", "team": "red"])
    }

    @Test(arguments: [(401, ProviderError.refused), (404, .refused), (429, .unavailable), (500, .unavailable)])
    func `an endpoint that fails gives no evidence`(_ status: Int, _ error: ProviderError) async throws {
        let provider = try provider()
        _ = try await signIn(profile: ["id": "7"], to: provider)
        world.service.answer("https://corp.example/u", status: status, ["id": "7"])
        await #expect(throws: error) {
            try await provider.complete(RedirectCallback(parameters: ["code": "c"]), of: World.flow)
        }
        world.service.answer("https://corp.example/t", status: status, [:])
        await #expect(throws: error) {
            try await provider.complete(RedirectCallback(parameters: ["code": "c"]), of: World.flow)
        }
    }

    @Test(
        arguments: [
            ([["email": "a@b.example", "primary": true, "verified": true]], "a@b.example verified"),
            ([["email": "a@b.example", "primary": true, "verified": false]], "a@b.example"),
            ([["email": "a@b.example", "primary": true]], "a@b.example"),
            (
                [
                    ["email": "x@b.example", "primary": false, "verified": true],
                    ["email": "a@b.example", "primary": true, "verified": false],
                ], "a@b.example"
            ),
            ([["email": "x@b.example", "primary": false, "verified": true]], nil), ([], nil), (["message": "no"], nil),
        ] as [(JSONValue, String?)])
    func `a list of addresses speaks for each of them`(_ list: JSONValue, _ email: String?) async throws {
        let provider = try provider {
            $0.emailsEndpoint = "https://corp.example/e"
            $0.claims["emailVerified"] = "verified"
        }
        world.service.answer("https://corp.example/e", list)
        // The public address of a profile may belong to another person.
        let profile: JSONValue = ["id": 1, "mail": "victim@b.example", "verified": true]
        #expect(try await signIn(profile: profile, to: provider).email == email)
    }

    @Test func `a forbidden list gives no addresses, an unavailable one an error`() async throws {
        let provider = try provider { $0.emailsEndpoint = "https://corp.example/e" }
        world.service.answer("https://corp.example/e", status: 403, [:])
        #expect(try await signIn(profile: ["id": 1, "mail": "a@b.example"], to: provider).addresses.isEmpty)
        world.service.answer("https://corp.example/e", status: 500, [:])
        await #expect(throws: ProviderError.unavailable) { try await signIn(profile: ["id": 1], to: provider) }
    }
}
