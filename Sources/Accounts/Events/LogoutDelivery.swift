internal import ProviderKit

/// A logout token that is queued for an OpenID client (OpenID Connect Back-Channel Logout, 2.5).
///
/// It is a delivery among those of webhooks. Its event is the id of the client's session, and its details contain the
/// client and the issuer. The token itself is signed at each attempt, because it is valid only briefly.
package enum LogoutDelivery {
    package static let kind = "backchannel-logout"

    /// The part of the queue that has the client's deliveries, as each webhook has one.
    ///
    /// It is not a URL, and so not that of a webhook.
    package static func lane(of uri: String) -> String { "\(kind) \(uri)" }

    /// The lanes that all registered clients share, so that one that does not answer delays few others.
    package static let registeredLanes = (0..<8).map { "\(kind) registered \($0)" }

    /// The lane of deliveries to a registered client.
    package static func lane(ofRegistered client: String) -> String {
        registeredLanes[Int(Digest.sha256(of: client)[0]) % registeredLanes.count]
    }
}

/// Signs logout tokens.
package protocol LogoutTokens: Sendable {
    /// The client's back-channel logout URI and the token.
    /// - Returns: `nil` if the client is no longer configured, or no longer has the delivery's URI.
    func logoutToken(for delivery: TakenDelivery) async throws -> (uri: String, token: String)?
}
