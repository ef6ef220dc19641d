import Foundation
import ProviderKit
import Testing

@testable import OpenIDConnectProvider

struct RedirectTests {
    private let world = World()

    @Test func `the authorization URL`() async throws {
        let url = try await world.provider().authorizationURL(for: World.flow)
        #expect(url.hasPrefix("https://id.example/authorize?"))
        #expect(
            url.query == [
                "response_type": "code", "client_id": "client", "redirect_uri": "https://gate.example/back",
                "scope": "openid email profile", "state": "our state", "nonce": "n-once",
                "code_challenge": CodeChallenge.s256(of: "verifier"), "code_challenge_method": "S256",
            ])
    }

    @Test func `the authorization URL has the parameters of endpoint and settings`() async throws {
        let world = World(
            discovery: World.discovery.with(["authorization_endpoint": "https://id.example/authorize?p=sign%20in"]))
        let provider = try world.provider {
            $0.scopes = ["openid", "phone"]
            $0.hostedDomains = ["example.com"]
        }
        let flow = RedirectFlow(
            state: "s", nonce: "n", codeVerifier: "v", callbackURL: "https://gate.example/back",
            requiresFreshLogin: true)
        let query = try await provider.authorizationURL(for: flow).query
        #expect(query["p"] == "sign in" && query["scope"] == "openid phone" && query["hd"] == "example.com")
        #expect(query["prompt"] == "login" && query["max_age"] == "0")
    }

    @Test func `parameters beyond the protocol's replace none of it`() async throws {
        let provider = try world.provider {
            $0.hostedDomains = ["example.com"]
            $0.authorizationParameters = ["acr_values": "2", "hd": "evil.example", "max_age": "900"]
            $0.forward = ["login_hint"]
        }
        let passed = ["login_hint": "a b&c", "state": "x", "ui_locales": "fr", "acr_values": "1"]
        for isFresh in [false, true] {
            let flow = RedirectFlow(
                state: "s", nonce: "n", codeVerifier: "v", callbackURL: "https://gate.example/back",
                requiresFreshLogin: isFresh, parameters: passed)
            let query = try await provider.authorizationURL(for: flow).query
            #expect(query["state"] == "s" && query["hd"] == "example.com" && query["acr_values"] == "2")
            #expect(query["login_hint"] == "a b&c" && query["ui_locales"] == nil)
            #expect(query["max_age"] == (isFresh ? "0" : "900") && query["prompt"] == (isFresh ? "login" : nil))
        }
    }

    @Test func `the code is exchanged with the verifier, and the secret goes in the header, encoded`() async throws {
        _ = try await world.signIn(to: world.provider())
        let request = try #require(world.service.requests(to: "https://id.example/token").first)
        #expect(
            request.form == [
                "grant_type": "authorization_code", "code": "c0de", "redirect_uri": "https://gate.example/back",
                "code_verifier": "verifier",
            ])
        #expect(request.headers["Authorization"] == "Basic \(Data("client:s%20p%3Ac".utf8).base64EncodedString())")
    }

    @Test func `the secret is in the form only if the issuer supports nothing else`() async throws {
        for (methods, isInForm): (JSONValue, Bool) in [
            (["client_secret_post"], true), (["client_secret_post", "client_secret_basic"], false),
            (["private_key_jwt"], false),
        ] {
            let world = World(
                discovery: World.discovery.with(["token_endpoint_auth_methods_supported": methods]))
            _ = try await world.signIn(to: world.provider())
            let request = try #require(world.service.requests(to: "https://id.example/token").first)
            #expect((request.form?["client_secret"] == "s p:c") == isInForm)
            #expect((request.headers["Authorization"] == nil) == isInForm)
        }
    }

    @Test func `a public client names itself`() async throws {
        _ = try await world.signIn(to: world.provider { $0.clientSecret = nil })
        let request = try #require(world.service.requests(to: "https://id.example/token").first)
        #expect(request.form?["client_id"] == "client" && request.form?["client_secret"] == nil)
        #expect(request.headers["Authorization"] == nil)
    }

    @Test func `evidence of a person`() async throws {
        let identity = try await world.signIn(
            with: ["auth_time": 1_699_999_990, "amr": ["pwd", "otp"], "locale": "fr"],
            and: ["refresh_token": "rt"], to: world.provider())
        #expect(identity.providerUid == "u-1")
        #expect(identity.email == "jo@example.com verified")
        #expect(identity.displayName == "Jo Doe")
        #expect(identity.profile == ["locale": "fr"])
        #expect(identity.methods == ["pwd", "otp"])
        #expect(identity.authenticatedAt == Date(timeIntervalSince1970: 1_699_999_990))
        #expect(identity.tokens == nil, "there is nowhere to give it back")
        #expect(identity.singleUse == nil)
    }

    @Test(arguments: [
        (400, ProviderError.refused), (401, .refused), (403, .refused), (429, .unavailable), (500, .unavailable),
        (503, .unavailable), (302, .unavailable),
    ])
    func `refusals of the token endpoint`(_ status: Int, _ error: ProviderError) async throws {
        let provider = try world.provider()
        world.service.answer("https://id.example/token", status: status, ["error": "invalid_grant"])
        await #expect(throws: error) {
            try await provider.complete(RedirectCallback(parameters: ["code": "c"]), of: World.flow)
        }
    }

    @Test(
        arguments: [
            (["id_token": nil, "access_token": nil], .unavailable),
            (["id_token": 1, "access_token": ""], .unavailable),
            (["id_token": nil], .refused), (["id_token": 1], .refused), (["id_token": "x.y.z"], .refused),
            (["error": "invalid_grant"], .refused), (["token_type": "mac"], .refused),
        ] as [([String: JSONValue], ProviderError)])
    func `an unusable response is an error`(_ answer: [String: JSONValue], _ error: ProviderError) async throws {
        let provider = try world.provider()
        await #expect(throws: error) { try await world.signIn(and: answer, to: provider) }
    }

    @Test func `an issuer that does not answer is unavailable`() async throws {
        let provider = try world.provider()
        _ = try await provider.authorizationURL(for: World.flow)
        world.service.isDown = true
        await #expect(throws: ProviderError.unavailable) {
            try await provider.complete(RedirectCallback(parameters: ["code": "c"]), of: World.flow)
        }
    }

    @Test(
        arguments: [
            (false, nil, true), (false, World.issuer, true), (false, "https://evil.example", false), (false, "", false),
            (true, nil, false), (true, World.issuer, true), (true, "https://id.example/", false),
        ] as [(Bool, String?, Bool)])
    func `the callback must come from the issuer itself`(
        _ isNamed: Bool, _ name: String?, _ isTaken: Bool
    ) async throws {
        let world = World(
            discovery: World.discovery.with(["authorization_response_iss_parameter_supported": .bool(isNamed)]))
        let provider = try world.provider()
        let callback = name.map { ["iss": $0] } ?? [:]
        let identity = try? await world.signIn(to: provider, bringing: callback)
        #expect((identity != nil) == isTaken)
        // A code of another issuer must not reach the token endpoint.
        #expect(world.service.requests(to: "https://id.example/token").count == (isTaken ? 1 : 0))
    }

    @Test func `a callback without a code is refused`() async throws {
        let provider = try world.provider()
        for parameters in [[:], ["code": ""]] {
            await #expect(throws: ProviderError.refused) {
                try await provider.complete(RedirectCallback(parameters: parameters), of: World.flow)
            }
        }
    }

    @Test(
        arguments: [
            ["iss": "https://other.example"], ["aud": "another"], ["exp": 1_699_999_000], ["exp": nil], ["sub": nil],
            ["sub": ""], ["nonce": nil], ["nonce": "another"], ["nonce": ["n-once"]],
            ["azp": "another"], ["aud": ["client", "another"]], ["aud": ["client", "another"], "azp": "another"],
            ["at_hash": "AAAAAAAAAAAAAAAAAAAAAA"],
        ] as [[String: JSONValue]])
    func `a token that is not this flow's is refused`(_ claims: [String: JSONValue]) async throws {
        let provider = try world.provider()
        await #expect(throws: ProviderError.refused) { try await world.signIn(with: claims, to: provider) }
    }

    @Test(
        arguments: [
            ["azp": "client"], ["aud": ["client"]], ["aud": ["client", "another"], "azp": "client"],
            // The left half of the SHA-256 of "at".
            ["at_hash": .string(String(CodeChallenge.s256(of: "at").prefix(21)) + "g")],
            // A digest of another length than SHA-256 gives is ignored.
            ["at_hash": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"],
        ] as [[String: JSONValue]])
    func `a token of this flow is accepted`(_ claims: [String: JSONValue]) async throws {
        let identity = try await world.signIn(with: claims, to: world.provider())
        #expect(identity.providerUid == "u-1")
    }

    @Test func `a token that another key signed is refused`() async throws {
        let provider = try world.provider()
        let token = try ScriptedService().sign(World.claims)
        await #expect(throws: ProviderError.refused) {
            try await world.signIn(and: ["id_token": .string(token)], to: provider)
        }
    }

    @Test func `a token signed in a way that the issuer doesn't name is refused`() async throws {
        let provider = try world.provider()
        let token = try world.service.sign(World.claims, algorithm: "RS256")
        await #expect(throws: ProviderError.refused) {
            try await world.signIn(and: ["id_token": .string(token)], to: provider)
        }
    }

    @Test(arguments: [("required", false), ("optional", false), ("off", true)])
    func `only nonce: off accepts a token without a nonce`(_ rule: String, _ isTaken: Bool) async throws {
        let provider = try world.provider { $0.nonce = NonceRule(rawValue: rule) }
        let identity = try? await world.signIn(with: ["nonce": nil], to: provider)
        #expect((identity != nil) == isTaken)
        await #expect(throws: ProviderError.refused) {
            try await world.signIn(with: ["nonce": "another"], to: provider)
        }
    }

    @Test func `the time of a login is the issuer's, and never in the future`() async throws {
        let flow = RedirectFlow(
            state: "s", nonce: "n-once", codeVerifier: "v", callbackURL: "https://gate.example/back",
            requiresFreshLogin: true, beganAt: Date(timeIntervalSince1970: 1_699_999_900))
        let provider = try world.provider()
        for unsaid: JSONValue in [nil, 0, "1700000000"] {
            let identity = try await world.signIn(with: ["auth_time": unsaid], to: provider, flow: flow)
            #expect(identity.authenticatedAt == nil, "a flow's begin is no login at an issuer that can say when")
        }
        let identity = try await world.signIn(with: ["auth_time": 1_700_000_030], to: provider, flow: flow)
        #expect(identity.authenticatedAt == Date(timeIntervalSince1970: 1_700_000_000))
    }
}
