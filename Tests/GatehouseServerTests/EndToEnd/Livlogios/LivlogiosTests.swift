import Foundation
import GatehouseTesting
import ProviderKit
import Testing

@testable import GatehouseServer

/// The app Livlogios, unchanged but for the host, with a fake Apple.
struct LivlogiosTests {
    /// What the app's server is configured with, because the app deletes by its access token alone, and has no page that
    /// restores an account.
    private static let settings = """
        recentAuthentication: { default: 300, deletion: off }
        deletion: { gracePeriod: 30d, restoreOnSignIn: true }
        """

    private func name(_ given: String, _ family: String) -> PersonNameComponents {
        var name = PersonNameComponents()
        (name.givenName, name.familyName) = (given, family)
        return name
    }

    @Test func `signs in, refreshes, reads the account, deletes it, and gets it back`() async throws {
        try await AppleSignInTests().with(application: Self.settings) { apple in
            let app = LivlogiosApp(host: apple.server.url)
            let address: [String: JSONValue] = ["email": "john@privaterelay.appleid.com", "email_verified": "true"]
            let first = try await app.authenticateWithBackend(
                identityToken: apple.token("001", address), authorizationCode: "c1234567890abcdef",
                fullName: name("John", "Doe"), email: "user@example.com")
            #expect(first.expiresIn == 3600 && first.user.displayName == "John Doe")
            #expect(first.user.email == "john@privaterelay.appleid.com")

            let me = try await app.me()
            #expect(me.id == first.user.id && me.displayName == "John Doe" && me.emailVerified)
            #expect(me.authProviders == ["apple"])
            #expect(abs(me.createdAt.timeIntervalSinceNow) < 60 && me.updatedAt >= me.createdAt)
            #expect(try Date(first.user.createdAt, strategy: .iso8601) == me.createdAt)

            let former = app.keychain.get(key: "refreshToken")
            try await app.refresh()
            #expect(app.keychain.get(key: "refreshToken") != former)
            #expect(try await app.me().id == me.id)

            // An hour later the app refreshes and deletes the account, without another sign-in.
            try await apple.server.letPass(.seconds(3600))
            try await app.refresh()
            try await app.deleteAccount()
            let refused = await #expect(throws: LivlogiosApp.Refusal.self) { try await app.me() }
            #expect(refused?.error.code == "INVALID_TOKEN" && refused?.error.message.isEmpty == false)

            let again = try await app.authenticateWithBackend(
                identityToken: apple.token("001"), authorizationCode: nil, fullName: nil, email: nil)
            #expect(again.user.id == me.id && again.user.displayName == "John Doe")
            #expect(try await app.me().createdAt == me.createdAt)
        }
    }

    @Test func `logs out after its access token has expired`() async throws {
        let tokens = "algorithm: ES256, accessLifetime: 1"
        try await AppleSignInTests().with(application: Self.settings, tokens: tokens) { apple in
            let app = LivlogiosApp(host: apple.server.url)
            try await app.authenticateWithBackend(
                identityToken: apple.token("001"), authorizationCode: nil, fullName: nil, email: nil)
            let access = try DecodedToken(try #require(app.keychain.get(key: "accessToken")))
            let expiry = try #require(access.claims["exp"].integer)
            // The server process has no manual clock, so the test waits for the token's lifetime of one second.
            try await Task.sleep(for: .seconds(Double(expiry) - Date().timeIntervalSince1970 + 0.05))
            let expired = await #expect(throws: LivlogiosApp.Refusal.self) { try await app.me() }
            #expect(expired?.error.code == "INVALID_TOKEN")
            try await app.logout()
            let ended = await #expect(throws: LivlogiosApp.Refusal.self) { try await app.refresh() }
            #expect(ended?.error.code == "INVALID_REFRESH_TOKEN")
            let dead = await #expect(throws: LivlogiosApp.Refusal.self) { try await app.logout() }
            #expect(dead?.error.code == "INVALID_TOKEN")
        }
    }

    @Test func `an invalid Apple token is refused as documented`() async throws {
        try await AppleSignInTests().with(application: Self.settings) { apple in
            let app = LivlogiosApp(host: apple.server.url)
            let stranger = try TestAuthority(.rs256).token(apple.claims("001"))
            await #expect(throws: DecodingError.self) {
                try await app.authenticateWithBackend(
                    identityToken: stranger, authorizationCode: nil, fullName: nil, email: nil)
            }
            #expect(app.keychain.get(key: "accessToken") == nil, "no token is stored")
            expectError(try await apple.signIn(stranger), 401, "INVALID_TOKEN")
        }
    }
}
