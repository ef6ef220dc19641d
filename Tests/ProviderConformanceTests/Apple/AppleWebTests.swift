import AppleProvider
import Foundation
import GatehouseTesting
import ProviderKit
import Testing

struct AppleWebTests {
    private let apple: FakeApple
    private let flow = ProviderConformance.flow

    init() throws { apple = try FakeApple() }

    private func complete(_ parameters: [String: String]) async throws -> VerifiedIdentity {
        try await apple.provider().complete(RedirectCallback(parameters: parameters), of: flow)
    }

    @Test func `the authorization URL leads to Apple's page`() throws {
        let url = try #require(URLComponents(string: apple.provider().authorizationURL(for: flow)))
        let query = Dictionary(url.queryItems?.map { ($0.name, $0.value ?? "") } ?? []) { $1 }
        #expect(url.host == "apple.example" && url.path == "/auth/authorize")
        #expect(
            query == [
                "response_type": "code", "response_mode": "form_post", "client_id": "net.example.web",
                "redirect_uri": flow.callbackURL, "scope": "name email", "state": flow.state, "nonce": flow.nonce,
            ])
    }

    @Test func `a provider without a key has no way on the web`() {
        #expect(throws: ProviderError.self) { try apple.provider(withKey: false).authorizationURL(for: flow) }
    }

    @Test func `the code is exchanged with the same redirect URI`() async throws {
        let user = #"{"name":{"firstName":"Ada","lastName":"Lovelace"},"email":"eve@example.com"}"#
        let identity = try await complete(["code": "c.1", "user": user])
        #expect(identity.providerUid == "001.abc" && identity.displayName == "Ada Lovelace")
        #expect(identity.addresses.map(\.address.value) == ["ada@example.com"])
        #expect(identity.tokens == ProviderTokens(refreshToken: "r.1", clientID: "net.example.web"))
        let form = try #require(apple.service.requests.first { $0.url.hasSuffix("/auth/token") }?.form)
        #expect(form["redirect_uri"] == flow.callbackURL && form["client_id"] == "net.example.web")
    }

    @Test(
        arguments: [
            ["nonce": .null], ["nonce": "another"], ["aud": "net.example.app"], ["sub": ""],
        ] as [[String: JSONValue]])
    func `the token is of this flow`(changes: [String: JSONValue]) async throws {
        let claims = ["nonce": JSONValue.string(flow.nonce)].merging(changes) { $1 }
        apple.give(["id_token": .string(try apple.token(claims))])
        await #expect(throws: ProviderError.refused) { try await complete(["code": "c.1"]) }
    }

    @Test(arguments: ["", "{", "[]", "null", #"{"name":"Ada"}"#, #"{"name":{"firstName":7}}"#])
    func `a form's name may be anything`(user: String) async throws {
        let identity = try await complete(["code": "c.1", "user": user])
        #expect(identity.displayName == nil)
    }

    @Test func `a code that Apple refuses proves nothing`() async throws {
        await #expect(throws: ProviderError.refused) { try await complete(["code": "c.2"]) }
        await #expect(throws: ProviderError.missing(field: "code")) { try await complete([:]) }
        apple.service.condition = .failing
        await #expect(throws: ProviderError.unavailable) { try await complete(["code": "c.1"]) }
    }

    @Test func `without a time in the token, the start of the flow counts as the time of the sign-in`() async throws {
        let (began, said) = (apple.now - 90, apple.now - 30)
        let flow = RedirectFlow(
            state: flow.state, nonce: flow.nonce, codeVerifier: flow.codeVerifier, callbackURL: flow.callbackURL,
            requiresFreshLogin: true, beganAt: began)
        for (time, expected) in [(JSONValue.null, began), (.integer(Int64(said.timeIntervalSince1970)), said)] {
            let token = try apple.token(["nonce": .string(flow.nonce), "auth_time": time])
            apple.give(["id_token": .string(token)])
            let identity = try await apple.provider().complete(
                RedirectCallback(parameters: ["code": "c.1"]), of: flow)
            #expect(identity.authenticatedAt == expected)
        }
    }
}
