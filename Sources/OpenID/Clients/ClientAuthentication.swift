internal import Foundation
internal import ProviderKit

/// What a client sent to authenticate itself (RFC 6749, 2.3).
package struct ClientCredentials: Sendable {
    /// The value of `Authorization`, if there is one.
    package var authorization: String?
    package var clientID, clientSecret: String?

    package init(authorization: String?, clientID: String?, clientSecret: String?) {
        (self.authorization, self.clientID, self.clientSecret) = (authorization, clientID, clientSecret)
    }
}

extension OpenIDSettings {
    /// The client that the credentials belong to.
    ///
    /// With Basic, id and secret are accepted form-encoded, as RFC 6749 requires, and as they are, as many clients send
    /// them.
    /// - Throws: `invalid_request` for two ways at once, otherwise `invalid_client`.
    package func authenticate(_ credentials: ClientCredentials) throws(OAuthError) -> OAuthClient {
        guard let authorization = credentials.authorization else {
            guard let id = credentials.clientID else { throw .invalidClient }
            let client = try client(id)
            guard let secret = credentials.clientSecret else {
                guard client.isPublic else { throw .invalidClient }
                return client
            }
            guard client.hasSecret(secret) else { throw .invalidClient }
            return client
        }
        guard credentials.clientSecret == nil else {
            throw .invalidRequest("The client is authenticated in two ways at once")
        }
        for (id, secret) in Self.basic(authorization) {
            guard let client = try? client(id), !client.isPublic, client.hasSecret(secret) else { continue }
            if let sent = credentials.clientID, !sent.hasSameBytes(as: client.id) {
                throw .invalidRequest("client_id is not the authenticated client")
            }
            return client
        }
        throw .invalidClient
    }

    /// The readings of a Basic header: decoded, and as it is; empty for another scheme.
    private static func basic(_ header: String) -> [(id: String, secret: String)] {
        let parts = header.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2, Substring(parts[0]).hasSameBytes(ignoringCaseAs: "basic"),
            let decoded = Data(base64Encoded: String(Substring(parts[1]))),
            let text = String(validating: decoded, as: UTF8.self),
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return [] }
        let (id, secret) = (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
        let plain = { (part: String) in part.replacing("+", with: " ").removingPercentEncoding }
        guard let plainID = plain(id), let plainSecret = plain(secret) else { return [(id, secret)] }
        return [(plainID, plainSecret), (id, secret)]
    }
}
