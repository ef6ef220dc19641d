import Foundation
import Testing

@testable import Accounts

struct SessionTokensTests {
    /// The database opened the session in the second before the one in which the token is issued.
    @Test func `the token of a session without renewal lives as long as configured`() async throws {
        let test = TestApplication()
        let issued = test.database.now().timeIntervalSince1970.rounded(.down)
        let lifetime = Int(test.application.policy.tokens.accessLifetime.components.seconds)
        let grant = SessionGrant(
            sessionID: UUID(), uid: UUID(), authenticatedAt: Date(timeIntervalSince1970: issued - 0.1),
            expiresAt: Date(timeIntervalSince1970: issued - 0.1 + Double(lifetime)), methods: ["pwd"],
            provider: "email", providerUid: "ada@example.com", email: nil, phone: nil)
        let tokens = try await test.tokens.pair(for: grant, refreshToken: nil, in: test.application)
        #expect(tokens.expiresIn == lifetime)
    }
}
