internal import Foundation
public import ProviderKit

extension AppleProvider: NotifyingProvider {
    /// The maximum age of an event; older events are refused as replays, because events need not have an expiry.
    private static let longestDelay = Duration.seconds(30 * 86_400)

    /// Verifies a server-to-server event.
    public func event(in payload: String) async throws -> ProviderEvent? {
        let claims = try await claims(of: payload, requiresExpiry: false, maximumAge: Self.longestDelay)
        guard let id = claims.id, let issuedAt = claims.issuedAt, let event = Self.event(of: claims),
            let type = event["type"].string, type.utf8.count <= 64, let subject = event["sub"].string,
            (1...255).contains(subject.utf8.count)
        else { throw ProviderError.refused }
        guard let change = try Self.change(type, event) else { return nil }
        let expires = issuedAt.addingTimeInterval(Self.longestDelay.inSeconds)
        // Uses the later of both times, because Apple may send an event late, but never signs it before it happened.
        let occurredAt = max(event["event_time"].appleTime ?? issuedAt, issuedAt)
        return ProviderEvent(
            change: change, providerUid: subject, occurredAt: occurredAt,
            singleUse: SingleUse(id: "\(service.baseURL)\njti\n\(id)", expires: max(claims.expiry ?? expires, expires)))
    }

    /// Reads the claim `events`, which is JSON encoded as a string.
    private static func event(of claims: TokenClaims) -> JSONValue? {
        guard let text = claims["events"].string else { return claims["events"] }
        return JSONValue(json: Array(text.utf8))
    }

    /// - Returns: `nil` for unknown types.
    private static func change(_ type: String, _ event: JSONValue) throws -> ProviderEvent.Change? {
        switch type {
        case "consent-revoked": return .consentRevoked
        // Apple's documentation uses one spelling, its servers use the other.
        case "account-delete", "account-deleted": return .accountDeleted
        case "email-enabled", "email-disabled":
            guard let address = event["email"].string.flatMap({ EmailAddress($0) }) else { throw ProviderError.refused }
            return .forwarding(address, isOn: type == "email-enabled")
        default: return nil
        }
    }
}

extension JSONValue {
    /// Apple's `event_time`, in milliseconds or, as in Apple's sample, in seconds.
    fileprivate var appleTime: Date? {
        guard let time = integer, time > 0 else { return nil }
        let isMilliseconds = time >= 100_000_000_000
        return JSONValue.number(Double(time) / (isMilliseconds ? 1000 : 1)).date
    }
}
