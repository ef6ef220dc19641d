import Foundation
import GatehouseTesting
import Migrations
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

    private static let address: [String: JSONValue] = [
        "email": "john@privaterelay.appleid.com", "email_verified": "true",
    ]

    @Test func `signs in, refreshes, reads the account, deletes it, and gets it back`() async throws {
        try await AppleSignInTests().with(application: Self.settings) { apple in
            try await LivlogiosApp.with(host: apple.server.url) { app in
                try await authenticateWithBackend(
                    identityToken: apple.token("001", Self.address), authorizationCode: "c1234567890abcdef",
                    fullName: name("John", "Doe"), email: "user@example.com")
                let me = try await app.me()
                #expect(me.displayName == "John Doe" && me.email == "john@privaterelay.appleid.com")
                #expect(me.emailVerified && me.authProviders == ["apple"])
                #expect(abs(me.createdAt.timeIntervalSinceNow) < 60 && me.updatedAt >= me.createdAt)
                let answer = try await apple.signIn(apple.token("001"))
                let signedIn = try JSONDecoder().decode(AuthResponse.self, from: Data(answer.body))
                #expect(signedIn.expiresIn == 3600 && signedIn.user.id == me.id)
                #expect(try Date(signedIn.user.createdAt, strategy: .iso8601) == me.createdAt)

                let former = KeychainManager.get(key: "refreshToken")
                try await app.refresh()
                #expect(KeychainManager.get(key: "refreshToken") != former)
                #expect(try await app.me().id == me.id)

                // An hour later the app refreshes and deletes the account, without another sign-in.
                try await apple.server.letPass(.seconds(3600))
                try await app.refresh()
                try await app.deleteAccount()
                let refused = await #expect(throws: LivlogiosApp.Refusal.self) { try await app.me() }
                #expect(refused?.error.code == "INVALID_TOKEN" && refused?.error.message.isEmpty == false)

                try await authenticateWithBackend(
                    identityToken: apple.token("001"), authorizationCode: nil, fullName: nil, email: nil)
                let again = try await app.me()
                #expect(again.id == me.id && again.displayName == "John Doe" && again.createdAt == me.createdAt)
            }
        }
    }

    /// `gatehouse dev` has a configuration of its own, without Apple, so this is `gatehouse serve` in development.
    @Test func `signs in, refreshes and deletes the account at the program`() async throws {
        let database = try await TemporaryPostgres.database(migrations: Migrations.all)
        try await AppleSignInTests().withService { upstream, authority, provider in
            try await ProcessDirectory.with { directory in
                var file = ServerFile(database: database)
                file.application = "redirectURIs: [\"demo://oauth/callback\"]\n" + Self.settings
                file.providers = provider
                try await file.serve(in: directory) { _, client in
                    try await LivlogiosApp.with(host: client.url) { app in
                        let claims = AppleSignInTests.Apple.claims("001", Self.address, at: upstream)
                        try await authenticateWithBackend(
                            identityToken: authority.token(claims), authorizationCode: nil,
                            fullName: name("John", "Doe"), email: nil)
                        let me = try await app.me()
                        #expect(me.displayName == "John Doe" && me.emailVerified)
                        try await app.refresh()
                        #expect(try await app.me().id == me.id)
                        try await app.deleteAccount()
                        await #expect(throws: LivlogiosApp.Refusal.self) { try await app.me() }
                    }
                }
            }
        }
    }

    @Test func `logs out after its access token has expired`() async throws {
        let tokens = "algorithm: ES256, accessLifetime: 1"
        try await AppleSignInTests().with(application: Self.settings, tokens: tokens) { apple in
            try await LivlogiosApp.with(host: apple.server.url) { app in
                try await authenticateWithBackend(
                    identityToken: apple.token("001"), authorizationCode: nil, fullName: nil, email: nil)
                let access = try #require(KeychainManager.get(key: "accessToken"))
                try await DecodedToken(access).waitUntilExpired()
                let expired = await #expect(throws: LivlogiosApp.Refusal.self) { try await app.me() }
                #expect(expired?.error.code == "INVALID_TOKEN")
                try await app.logout()
                let ended = await #expect(throws: LivlogiosApp.Refusal.self) { try await app.refresh() }
                #expect(ended?.error.code == "INVALID_REFRESH_TOKEN")
                let dead = await #expect(throws: LivlogiosApp.Refusal.self) { try await app.logout() }
                #expect(dead?.error.code == "INVALID_TOKEN")
            }
        }
    }

    @Test func `an invalid Apple token is refused as documented`() async throws {
        try await AppleSignInTests().with(application: Self.settings) { apple in
            try await LivlogiosApp.with(host: apple.server.url) { _ in
                let stranger = try TestAuthority(.rs256).token(apple.claims("001"))
                await #expect(throws: DecodingError.self) {
                    try await authenticateWithBackend(
                        identityToken: stranger, authorizationCode: nil, fullName: nil, email: nil)
                }
                #expect(KeychainManager.get(key: "accessToken") == nil, "no token is stored")
                expectError(try await apple.signIn(stranger), 401, "INVALID_TOKEN")
            }
        }
    }
}
