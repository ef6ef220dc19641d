import AppleProvider
import GatehouseTesting
import ProviderKit
import Testing

struct AppleConformanceTests {
    @Test func `the provider conforms`() async throws {
        let apple = try FakeApple()
        var fixtures = ProviderFixtures(settings: apple.settings, service: apple.service, now: apple.now)
        fixtures.brokenSettings = [
            BrokenSettings(["clientIDs": []], blames: "clientIDs"),
            BrokenSettings(["webClientID": "net.example.other"], blames: "webClientID"),
            BrokenSettings(["teamID": .null], blames: "teamID"),
            BrokenSettings(["keyID": .null], blames: "keyID"),
            BrokenSettings(["privateKey": .null], blames: "privateKey"),
            BrokenSettings(["teamID": .null, "keyID": .null], blames: "teamID"),
            BrokenSettings(["privateKey": "no key at all"], blames: "privateKey"),
            BrokenSettings(["baseURL": "appleid.apple.com"], blames: "baseURL"),
            BrokenSettings(["nonce": "sometimes"], blames: "nonce"),
        ]
        let token = try apple.token()
        let withNonce = try apple.token(["nonce": "n"])
        fixtures.proofs = [
            GoodProof(.credential(["identityToken": .string(token)]), of: "001.abc", offline: .unavailable),
            GoodProof(
                .credential([
                    "identityToken": .string(withNonce), "authorizationCode": "c.1", "nonce": "n",
                    "fullName": ["givenName": "Ada", "familyName": "Lovelace"], "email": "eve@example.com",
                ]), of: "001.abc", offline: .unavailable),
            GoodProof(.native(NativeToken(idToken: withNonce, nonce: "n")), of: "001.abc", offline: .unavailable),
            GoodProof(
                .callback(["code": "c.1", "user": #"{"name":{"firstName":"Ada"}}"#]), of: "001.abc",
                offline: .unavailable),
        ]
        fixtures.badProofs = try apple.authority.attacks(on: apple.claims(), now: apple.now).flatMap { name, token in
            [
                (name, ProviderProof.credential(["identityToken": .string(token)])),
                ("\(name), native", .native(NativeToken(idToken: token))),
            ]
        }
        fixtures.badProofs += [
            ("no subject", .credential(["identityToken": .string(try apple.token(["sub": ""]))])),
            ("unknown code", .callback(["code": "c.2"])), ("no code", .callback([:])),
        ]
        fixtures.events = [
            GoodEvent(try apple.event("consent-revoked"), says: .consentRevoked, of: "001.abc"),
            GoodEvent(try apple.event("account-delete", isText: false), says: .accountDeleted, of: "001.abc"),
            GoodEvent(try apple.event("something-new"), says: nil, of: "001.abc"),
        ]
        fixtures.badEvents = [("no id", try apple.event("consent-revoked", ["jti": .null])), ("a sign-in", token)]
        fixtures.tokens = ProviderTokens(refreshToken: "r.1", clientID: "net.example.app")
        try await ProviderConformance.check(AppleProvider.self, fixtures)
    }
}
