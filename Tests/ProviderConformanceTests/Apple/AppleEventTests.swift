import AppleProvider
import Foundation
import GatehouseTesting
import ProviderKit
import Testing

struct AppleEventTests {
    private let apple: FakeApple

    init() throws { apple = try FakeApple() }

    private func event(in payload: String) async throws -> ProviderEvent? {
        try await apple.provider().event(in: payload)
    }

    @Test(
        arguments: [
            ("consent-revoked", .consentRevoked), ("account-delete", .accountDeleted),
            ("account-deleted", .accountDeleted),
            ("email-added", nil),
        ] as [(JSONValue, ProviderEvent.Change?)], [true, false])
    func `events by their type`(_ expected: (JSONValue, ProviderEvent.Change?), isText: Bool) async throws {
        let event = try await event(in: apple.event(expected.0, isText: isText))
        #expect(event?.change == expected.1)
        #expect(event == nil || event?.providerUid == "001.abc")
    }

    @Test(arguments: [("email-enabled", true), ("email-disabled", false)] as [(JSONValue, Bool)])
    func `events report whether mail is forwarded`(type: JSONValue, isOn: Bool) async throws {
        let relay = try #require(EmailAddress("x@privaterelay.appleid.com"))
        let event = try await event(in: apple.event(type, more: ["email": "X@privaterelay.appleid.com"]))
        #expect(event?.change == .forwarding(relay, isOn: isOn))
        await #expect(throws: ProviderError.refused) { try await self.event(in: apple.event(type)) }
    }

    /// Times are seconds since the epoch.
    ///
    /// The token's `iat` is 1 800 000 000.
    @Test(
        arguments: [
            (1_800_000_090_123, 1_800_000_090.123), (1_800_000_090, 1_800_000_090), (1_799_999_990_123, 1_800_000_000),
            (.null, 1_800_000_000),
            ("soon", 1_800_000_000), (-5, 1_800_000_000), (.integer(.max), 1_800_000_000),
        ] as [(JSONValue, Double)])
    func `the time is Apple's, and no earlier than the signature`(time: JSONValue, expected: Double) async throws {
        let event = try await event(in: apple.event("consent-revoked", more: ["event_time": time]))
        let occurred = try #require(event?.occurredAt.timeIntervalSince1970)
        #expect(abs(occurred - expected) < 0.001)
    }

    @Test func `each event acts once`() async throws {
        let one = try await event(in: apple.event("consent-revoked"))
        let two = try await event(in: apple.event("consent-revoked", ["jti": "event-2"]))
        #expect(one?.singleUse.id != two?.singleUse.id)
        #expect(one?.singleUse.expires == apple.now.addingTimeInterval(30 * 86_400))
    }

    @Test(
        arguments: [
            ["jti": .null], ["jti": ""], ["iat": .null], ["iss": "https://stranger.example"], ["aud": "stranger"],
            ["events": .null], ["events": "{"], ["events": "[]"], ["events": 7], ["exp": 1_799_999_000],
            // The record that this event was used would have expired already.
            ["iat": .integer(1_800_000_000 - 31 * 86_400)],
        ] as [[String: JSONValue]])
    func `payloads that are not events of Apple are refused`(changes: [String: JSONValue]) async throws {
        let payload = try apple.event("consent-revoked", changes)
        await #expect(throws: ProviderError.refused) { try await event(in: payload) }
    }

    @Test(arguments: [["sub": ""], ["sub": .null], ["sub": 7], ["type": .null]] as [[String: JSONValue]])
    func `an event must name a person`(more: [String: JSONValue]) async throws {
        let payload = try apple.event("consent-revoked", more: more)
        await #expect(throws: ProviderError.refused) { try await event(in: payload) }
    }
}
