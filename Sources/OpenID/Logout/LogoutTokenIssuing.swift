package import Accounts
internal import Foundation
internal import ProviderKit

extension OAuthClient {
    /// The lane of the client's logout tokens in the queue; `nil` if it receives none.
    var logoutLane: String? {
        backchannelLogoutURI.map { uri in
            origin == .registered ? LogoutDelivery.lane(ofRegistered: id) : LogoutDelivery.lane(of: uri)
        }
    }
}

/// Signs the tokens that tell clients about ended sessions (OpenID Connect Back-Channel Logout).
package struct LogoutTokenIssuing: Sendable {
    private static let lifetime = 120
    private static let event = "http://schemas.openid.net/event/backchannel-logout"

    let directory: ClientDirectory
    let issuing: TokenIssuing

    /// Signs the token that tells a client that its session has ended (OpenID Connect Back-Channel Logout, 2.4).
    /// - Returns: `nil` if the client is not configured any more, or not with the delivery's URI.
    package func token(for delivery: TakenDelivery, at issuer: Issuer) async throws -> (uri: String, token: String)? {
        guard let id = delivery.details["client"]?.string, let url = delivery.details["issuer"]?.string,
            let client = try await directory.find(id, at: issuer.named(url) ?? issuer),
            let uri = client.backchannelLogoutURI, client.logoutLane == delivery.webhook
        else { return nil }
        let now = Int(issuing.time.now().timeIntervalSince1970)
        var writer = JSONObjectWriter()
        writer.add("iss", url)
        writer.add("sub", issuer.subject(of: delivery.uid, for: client, by: issuing.opaque))
        writer.add("aud", client.id)
        writer.add("iat", now)
        writer.add("exp", now + Self.lifetime)
        writer.add("jti", UUID.v7().text)
        writer.add("sid", delivery.event.text)
        writer.add("events", JSONValue.object([Self.event: .object([:])]))
        return (uri, try await issuing.jwts.sign(writer.finished(), as: .logoutToken, for: issuer.application))
    }
}
