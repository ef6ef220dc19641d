import Accounts
import Foundation
import Testing

@testable import Tokens

struct VerifiedTokenCacheTests {
    private let cache = VerifiedTokenCache<AccessTokenClaims>(capacity: 10)

    private func key(_ number: Int, application: Application.ID = 1) -> VerifiedTokenCache<AccessTokenClaims>.Key {
        VerifiedTokenCache<AccessTokenClaims>.Key(application: application, token: "token \(number)")
    }

    private func entry(_ kid: String) -> VerifiedTokenCache<AccessTokenClaims>.Entry {
        let claims = AccessTokenClaims(
            issuer: "", audience: "", uid: UUID(), sessionID: UUID(), tokenID: UUID(), issuedAt: 0, expiresAt: 0,
            authenticatedAt: 0, methods: [], provider: "", providerUid: "")
        return VerifiedTokenCache<AccessTokenClaims>.Entry(kid: kid, claims: claims)
    }

    @Test func neverHoldsMoreThanTwoGenerations() {
        for number in 0..<1000 {
            cache.insert(entry("\(number)"), for: key(number))
            #expect(cache.count <= 20)
        }
        #expect(cache[key(999)]?.kid == "999")
        #expect(cache[key(0)] == nil)
    }

    @Test func keepsWhatIsUsed() {
        cache.insert(entry("kept"), for: key(0))
        for number in 1..<1000 {
            cache.insert(entry("\(number)"), for: key(number))
            #expect(cache[key(0)]?.kid == "kept")
            #expect(cache.count <= 20)
        }
    }

    @Test func tellsApplicationsApart() {
        cache.insert(entry("a"), for: key(0, application: 1))
        #expect(cache[key(0, application: 2)] == nil)
    }

    @Test func remembersNothingWithoutCapacity() {
        let cache = VerifiedTokenCache<AccessTokenClaims>(capacity: 0)
        cache.insert(entry("a"), for: key(0))
        #expect(cache.count == 0)
    }
}
