import AppleProvider
import Foundation
import GatehouseTesting
import OpenIDConnectProvider
import ProviderKit
import Testing

/// Combining marks in every text that a provider can send in a response or a token.
@Suite(.serialized) struct UpstreamCostTests {
    private static let issuer = "https://id.example"
    private static let flow = RedirectFlow(
        state: "s", nonce: "n", codeVerifier: "v", callbackURL: "https://gate.example/back")

    /// An issuer whose responses are raw texts, so that they may contain values that no encoder would write.
    private struct Issuer {
        let authority: TestAuthority
        var discovery = """
            {"issuer":"https://id.example","authorization_endpoint":"https://id.example/authorize",\
            "token_endpoint":"https://id.example/token","jwks_uri":"https://id.example/keys",\
            "userinfo_endpoint":"https://id.example/me","revocation_endpoint":"https://id.example/revoke",\
            "id_token_signing_alg_values_supported":["ES256"],\
            "token_endpoint_auth_methods_supported":["client_secret_post"]}
            """
        var keys: String
        var token: String
        var profile = #"{"sub":"u","email":"jo@example.com","email_verified":true,"name":"Jo","picture":"p"}"#
        var cacheControl = "max-age=600"

        init(_ authority: TestAuthority) throws {
            self.authority = authority
            keys = authority.keySetText
            let idToken = try authority.token(UpstreamCostTests.claims)
            token = #"{"token_type":"Bearer","access_token":"at","refresh_token":"rt","id_token":"\#(idToken)"}"#
        }

        var service: ScriptedService {
            func answer(_ text: String) -> ScriptedService.Answer {
                let (body, cacheControl) = (Array(text.utf8), self.cacheControl)
                return { _ in FetchResponse(status: 200, headers: ["cache-control": cacheControl], body: body) }
            }
            let issuer = UpstreamCostTests.issuer
            return ScriptedService([
                issuer + "/.well-known/openid-configuration": answer(discovery), issuer + "/keys": answer(keys),
                issuer + "/token": answer(token), issuer + "/me": answer(profile),
            ])
        }
    }

    private static let claims: [String: JSONValue] = {
        let now = Int64(Date().timeIntervalSince1970)
        return [
            "iss": .string(issuer), "aud": "client", "sub": "u", "nonce": "n", "iat": .integer(now - 5),
            "exp": .integer(now + 3600), "auth_time": .integer(now - 5),
        ]
    }()

    private static func provider<P: Provider>(
        _ type: P.Type, _ settings: JSONValue, over service: ScriptedService
    ) throws -> P {
        let context = ProviderContext(
            name: "corp", applicationURL: "https://gate.example", audience: "demo",
            ports: ConformancePorts.make(http: service))
        return try P(
            settings: JSONDecoder().decode(P.Settings.self, from: JSONEncoder().encode(settings)), context: context)
    }

    private static let oidc: JSONValue = [
        "issuer": .string(issuer), "clientID": "client", "clientSecret": "secret", "hostedDomains": ["example.com"],
        "tenants": ["t"], "claims": ["plan": "plan"],
    ]
    private static let unrestricted: JSONValue = [
        "issuer": .string(issuer), "clientID": "client", "clientSecret": "secret",
    ]
    private static let oauth2: JSONValue = [
        "authorizationEndpoint": "https://id.example/authorize", "tokenEndpoint": "https://id.example/token",
        "userInfoEndpoint": "https://id.example/me", "clientID": "client", "clientSecret": "secret",
        "claims": ["providerUid": "sub", "email": "email", "emailVerified": "email_verified", "displayName": "name"],
    ]

    private static func complete(_ issuer: Issuer, with callback: [String: String] = [:]) async {
        let callback = RedirectCallback(parameters: ["code": "c"].merging(callback) { $1 })
        let service = issuer.service
        _ = try? await provider(OpenIDConnectProvider.self, unrestricted, over: service)
            .complete(callback, of: flow)
        _ = try? await provider(OAuth2Provider.self, oauth2, over: service).complete(callback, of: flow)
    }

    /// Returns variants of a JSON text, each with one string replaced or with an unknown name added.
    private static func variants(of json: String) -> [String] {
        let marks = CombiningMarks.text()
        let values = json.matches(of: /:"[^"]*"|\["[^"]*"\]/).map { match in
            let literal = match.output.hasPrefix(":") ? ":\"a\(marks)\"" : "[\"a\(marks)\"]"
            return json.replacingCharacters(in: match.range, with: literal)
        }
        let prefixed = json.matches(of: /"https:\/\//).map { match in
            json.replacingCharacters(in: match.range, with: "\"https://a\(marks)")
        }
        let names = ["\"a\(marks)\"", "\"\(CombiningMarks.escaped())\""].map { "{\($0):1," + json.dropFirst() }
        return values + prefixed + names
    }

    @Test func `answers of an issuer`() async throws {
        let issuer = try Issuer(TestAuthority())
        var budget = ProcessorBudget()
        await Self.complete(issuer)
        let parts: [(String, WritableKeyPath<Issuer, String>)] = [
            ("discovery", \.discovery), ("keys", \.keys), ("token", \.token), ("profile", \.profile),
        ]
        for (name, part) in parts {
            let variants = Self.variants(of: issuer[keyPath: part])
            #expect(variants.count > 4, "\(name)")
            for (index, variant) in variants.enumerated() {
                var changed = issuer
                changed[keyPath: part] = variant
                await budget.spend(on: "\(name) \(index)") { await Self.complete(changed) }
            }
        }
        var changed = issuer
        changed.cacheControl = "a" + CombiningMarks.text()
        await budget.spend(on: "Cache-Control") { await Self.complete(changed) }
        for name in ["iss", "user", "anything"] {
            await budget.spend(on: "callback \(name)") {
                await Self.complete(issuer, with: [name: "a" + CombiningMarks.text()])
            }
        }
        budget.check()
    }

    @Test func `names and values of a token`() async throws {
        let issuer = try Issuer(TestAuthority())
        // Longer tokens are refused without being parsed.
        let marks = "a" + CombiningMarks.text(bytes: 20_000)
        let names = [
            "iss", "sub", "aud", "azp", "nonce", "hd", "tid", "jti", "at_hash", "email", "email_verified", "name",
            "phone_number", "picture", "amr", "auth_time", "events", "is_private_email", "xms_edov",
        ]
        var tokens = try names.map {
            ($0, try issuer.authority.token(Self.claims.merging([$0: .string(marks)]) { $1 }))
        }
        tokens += try ["alg", "kid", "typ", "crit", "b64"].map {
            ("header \($0)", try issuer.authority.token(Self.claims, header: [$0: .string(marks)]))
        }
        tokens += try ["aud", "amr"].map {
            ("list \($0)", try issuer.authority.token(Self.claims.merging([$0: [.string(marks), "client"]]) { $1 }))
        }
        tokens.append(("a name", try issuer.authority.token(Self.claims.merging([marks: 1]) { $1 })))
        tokens.append(("a header's name", try issuer.authority.token(Self.claims, header: [marks: 1])))
        let service = issuer.service
        let apple: JSONValue = ["clientIDs": ["client"], "baseURL": .string(Self.issuer)]
        let providers: [any NativeTokenProvider] = [
            try Self.provider(OpenIDConnectProvider.self, Self.oidc, over: service),
            try Self.provider(OpenIDConnectProvider.self, Self.unrestricted, over: service),
            try Self.provider(AppleProvider.self, apple, over: service),
        ]
        var budget = ProcessorBudget()
        for (name, token) in tokens {
            for provider in providers {
                await budget.spend(on: "\(type(of: provider)) \(name)") {
                    _ = try? await provider.verify(NativeToken(idToken: token, nonce: "n"))
                }
            }
        }
        let plain = try issuer.authority.token(Self.claims)
        await budget.spend(on: "the app's nonce") {
            _ = try? await providers[1].verify(NativeToken(idToken: plain, nonce: "a" + CombiningMarks.text()))
        }
        budget.check()
    }

    @Test func `names of people and addresses`() async {
        let marks = CombiningMarks.text()
        var budget = ProcessorBudget()
        await budget.spend(on: "a name") { _ = PersonName.joined("a" + marks, marks) }
        await budget.spend(on: "an address") { _ = EmailAddress("a\(marks)@example.com") }
        for size in [400, 1000] {
            let marks = CombiningMarks.text(bytes: size)
            await budget.spend(on: "an address of \(size)") { _ = EmailAddress("a\(marks)@example.com") }
            await budget.spend(on: "a domain of \(size)") { _ = EmailAddress("a@a\(marks).com") }
        }
        await budget.spend(on: "a number") { _ = PhoneNumber("+\(marks)") }
        budget.check()
    }
}
