import ProviderKit
import Testing

@testable import OpenIDConnectProvider

struct UserInfoTests {
    private static let endpoint = "https://id.example/userinfo"
    private let world = World()

    @Test func `a complete token needs no more`() async throws {
        _ = try await world.signIn(to: world.provider())
        #expect(world.service.requests(to: Self.endpoint).isEmpty)
    }

    @Test func `claims missing in the token are read from userinfo`() async throws {
        world.service.answer(
            Self.endpoint, ["sub": "u-1", "email": "jo@example.com", "email_verified": true, "name": "Another"])
        let identity = try await world.signIn(with: ["email": nil, "email_verified": nil], to: world.provider())
        #expect(identity.email == "jo@example.com verified")
        #expect(identity.displayName == "Jo Doe")
        let request = try #require(world.service.requests(to: Self.endpoint).first)
        #expect(request.headers["Authorization"] == "Bearer at")
    }

    @Test func `an exposed claim that the token leaves out is looked up too`() async throws {
        world.service.answer(Self.endpoint, ["sub": "u-1", "department": "physics", "role": "other", "hidden": true])
        let settings = OpenIDConnectProvider.Settings(issuer: World.issuer, clientID: "client", clientSecret: "s")
        let provider = try OpenIDConnectProvider(
            settings: settings, context: world.context(exposing: ["role", "department", "name"]))
        let identity = try await world.signIn(with: ["role": "admin"], to: provider)
        #expect(identity.profile == ["role": "admin", "department": "physics", "name": "Jo Doe"])
    }

    @Test func `an invalid response counts as an outage`() async throws {
        world.service.answer(Self.endpoint, "text")
        let provider = try world.provider()
        await #expect(throws: ProviderError.unavailable) { try await world.signIn(with: ["email": nil], to: provider) }
    }

    @Test func `an address and its email_verified come from the same document`() async throws {
        let provider = try world.provider()
        // The token has `email_verified` but no address.
        world.service.answer(Self.endpoint, ["sub": "u-1", "email": "victim@example.com"])
        let other = try await world.signIn(with: ["email": nil], to: provider)
        #expect(other.email == "victim@example.com")
        // The token has the address but no `email_verified`.
        world.service.answer(Self.endpoint, ["sub": "u-1", "email_verified": true, "name": "Jo"])
        let own = try await world.signIn(with: ["email_verified": nil, "name": nil], to: provider)
        #expect(own.email == "jo@example.com" && own.displayName == "Jo")
    }

    @Test(arguments: ["u-2", "", nil, 1] as [JSONValue])
    func `userinfo about another person is refused`(_ subject: JSONValue) async throws {
        let provider = try world.provider()
        let userInfo: JSONValue = ["email": "a@b.example"]
        world.service.answer(Self.endpoint, userInfo.with(["sub": subject]))
        await #expect(throws: ProviderError.refused) { try await world.signIn(with: ["email": nil], to: provider) }
    }

    @Test func `userinfo that refuses the access token is ignored`() async throws {
        world.service.answer(Self.endpoint, status: 403, [:])
        let identity = try await world.signIn(with: ["email": nil], to: world.provider())
        #expect(identity.addresses.isEmpty)
    }

    @Test func `if userinfo is down, incomplete evidence is refused`() async throws {
        let provider = try world.provider()
        world.service.answer(Self.endpoint, status: 502, [:])
        await #expect(throws: ProviderError.unavailable) { try await world.signIn(with: ["email": nil], to: provider) }
    }
}
