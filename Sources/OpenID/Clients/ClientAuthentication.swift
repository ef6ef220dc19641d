package import Accounts
internal import Foundation
internal import ProviderKit

/// What a client sent to authenticate itself (RFC 6749, 2.3; RFC 7523, 2.2).
package struct ClientCredentials: Sendable {
    /// The value of `Authorization`, if there is one.
    package var authorization: String?
    package var clientID, clientSecret, assertionType, assertion: String?

    package init(authorization: String?, parameters: RequestParameters) {
        self.authorization = authorization
        (clientID, clientSecret) = (parameters["client_id"], parameters["client_secret"])
        (assertionType, assertion) = (parameters["client_assertion_type"], parameters["client_assertion"])
    }
}

/// Authenticates clients by a secret, by a signed assertion, or, for those that can keep neither, by their name.
package struct ClientAuthentication: Sendable {
    private static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    private static let longestAssertion: TimeInterval = 300

    let store: any SingleUseStore
    let keys: any TokenVerifying
    let refusals: RefusalAudit
    let time: any TimeSource

    /// The client that the credentials belong to; a refusal is counted in the audit.
    /// - Throws: `invalid_request` for two ways at once, otherwise `invalid_client`.
    package func client(
        by credentials: ClientCredentials, from connection: Client, at issuer: Issuer
    ) async throws -> OAuthClient {
        do {
            return try await client(by: credentials, at: issuer)
        } catch let error as OAuthError where error.code == .invalidClient {
            var entry = AuditEntry(.clientRefused)
            // Only the name of a configured client, because anybody can send others.
            entry.details["client"] = issuer.settings.name(in: credentials).map { .string($0) }
            try await refusals.record(entry, from: connection, in: issuer.application)
            throw error
        }
    }

    private func client(by credentials: ClientCredentials, at issuer: Issuer) async throws -> OAuthClient {
        let ways = [credentials.authorization, credentials.clientSecret, credentials.assertion].compactMap { $0 }
        guard ways.count <= 1 else {
            throw OAuthError.invalidRequest("The client is authenticated in two ways at once")
        }
        guard credentials.assertion != nil || credentials.assertionType != nil else {
            return try issuer.settings.authenticate(credentials)
        }
        guard credentials.assertionType?.hasSameBytes(as: Self.assertionType) == true,
            let assertion = credentials.assertion, let id = credentials.clientID ?? Self.subject(of: assertion)
        else { throw OAuthError.invalidClient }
        let client = try issuer.settings.client(id)
        try await verify(assertion, of: client, at: issuer)
        return client
    }

    /// Verifies an assertion, and uses its `jti` up.
    private func verify(_ assertion: String, of client: OAuthClient, at issuer: Issuer) async throws {
        guard let keys = client.keys, assertion.utf8.count <= 8192 else { throw OAuthError.invalidClient }
        let rules = TokenRules(
            keys: keys, algorithms: [.rs256, .es256, .edDSA], issuers: [client.id],
            audiences: [issuer.url, issuer.url + "/oauth/token"])
        let claims: TokenClaims
        do {
            claims = try await self.keys.verify(assertion, by: rules)
        } catch ProviderError.refused {
            throw OAuthError.invalidClient
        } catch ProviderError.unavailable {
            throw OAuthError(.temporarilyUnavailable, "The client's keys cannot be fetched")
        }
        guard claims["sub"].string?.hasSameBytes(as: client.id) == true, let id = claims["jti"].string,
            (1...512).contains(id.utf8.count), let expiry = claims["exp"].date,
            expiry.timeIntervalSince(time.now()) <= Self.longestAssertion
        else { throw OAuthError.invalidClient }
        let use = SingleUse(id: "\(client.id)\n\(id)", expires: expiry)
        let isFirst = try await retryingOnConflict {
            try await store.spend(use, provider: "client_assertion", application: issuer.application.id)
        }
        guard isFirst else { throw OAuthError.invalidClient }
    }

    /// The `sub` of an assertion that is not verified yet, by which its client is found.
    fileprivate static func subject(of assertion: String) -> String? {
        let parts = assertion.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, assertion.utf8.count <= 8192 else { return nil }
        var text = String(Substring(parts[1])).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: text).flatMap { JSONValue(json: Array($0)) }?["sub"].string
    }
}

extension OpenIDSettings {
    /// The client of a secret, or of the name alone.
    ///
    /// With Basic, id and secret are accepted form-encoded, as RFC 6749 requires, and as they are, as many clients send
    /// them.
    /// - Throws: `invalid_request` if two clients are named, otherwise `invalid_client`.
    fileprivate func authenticate(_ credentials: ClientCredentials) throws(OAuthError) -> OAuthClient {
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
        for (id, secret) in Self.basic(authorization) {
            guard let client = try? client(id), client.hasSecret(secret) else { continue }
            if let sent = credentials.clientID, !sent.hasSameBytes(as: client.id) { throw .otherClient }
            return client
        }
        throw .invalidClient
    }

    /// The id of the configured client that the credentials name.
    package func name(in credentials: ClientCredentials) -> String? {
        var ids = credentials.authorization.map { Self.basic($0).map(\.id) } ?? []
        ids += [credentials.clientID, credentials.assertion.flatMap(ClientAuthentication.subject)].compactMap { $0 }
        return ids.lazy.compactMap { try? client($0).id }.first
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
