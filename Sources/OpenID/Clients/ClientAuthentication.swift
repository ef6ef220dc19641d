package import Accounts
internal import Foundation
package import ProviderKit

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

    /// The ids that the client names, none of which is authenticated.
    package var ids: [String] {
        basic.map(\.id) + [clientID, assertion.flatMap(ClientAuthentication.subject)].compactMap { $0 }
    }
}

/// Authenticates clients by a secret, by a signed assertion, or, for those that can keep neither, by their name.
package struct ClientAuthentication: Sendable {
    /// What assertions may be signed with.
    package static let algorithms: [TokenRules.Algorithm] = [.rs256, .es256, .edDSA]
    private static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    private static let longestAssertion: Duration = .seconds(300)

    let store: any SingleUseStore
    let directory: ClientDirectory
    let keys: any TokenVerifying
    /// Verifies by the keys of registered clients, of which there may be many, so that they displace no others.
    let registeredKeys: any TokenVerifying
    let refusals: RefusalAudit
    let time: any TimeSource

    /// The client that the credentials belong to; a refusal is counted in the audit.
    /// - Throws: `invalid_request` for two ways at once, otherwise `invalid_client`.
    package func client(
        by credentials: ClientCredentials, from connection: Client, at issuer: Issuer
    ) async throws -> OAuthClient {
        do {
            let client = try await client(by: credentials, connectedBy: connection, at: issuer)
            try await directory.noteUse(of: client, at: issuer)
            return client
        } catch let error as OAuthError where error.code == .invalidClient {
            var entry = AuditEntry(.clientRefused)
            // Only the name of a configured client, because anybody can send others.
            entry.details["client"] = issuer.settings.name(in: credentials).map { .string($0) }
            try await refusals.record(entry, from: connection, in: issuer.application)
            throw error
        }
    }

    private func client(
        by credentials: ClientCredentials, connectedBy connection: Client, at issuer: Issuer
    ) async throws -> OAuthClient {
        let ways = [credentials.authorization, credentials.clientSecret, credentials.assertion].compactMap { $0 }
        guard ways.count <= 1 else {
            throw OAuthError.invalidRequest("The client is authenticated in two ways at once")
        }
        guard credentials.assertion != nil || credentials.assertionType != nil else {
            return try await authenticate(credentials, connectedBy: connection, at: issuer)
        }
        guard credentials.assertionType?.hasSameBytes(as: Self.assertionType) == true,
            let assertion = credentials.assertion, let id = credentials.clientID ?? Self.subject(of: assertion)
        else { throw OAuthError.invalidClient }
        let client = try await directory.client(id, at: issuer)
        try await verify(assertion, of: client, at: issuer)
        return client
    }

    /// Verifies an assertion, and uses its `jti` up.
    ///
    /// The audience may also be the endpoint of pushed requests (RFC 9126, 2).
    private func verify(_ assertion: String, of client: OAuthClient, at issuer: Issuer) async throws {
        guard let keys = client.keys, assertion.utf8.count <= 8192 else { throw OAuthError.invalidClient }
        let rules = TokenRules(
            keys: keys, algorithms: client.assertionAlgorithm.map { [$0] } ?? Set(Self.algorithms),
            issuers: [client.id], audiences: [issuer.url, issuer.url(of: .token), issuer.url(of: .pushedRequests)])
        let claims: TokenClaims
        do {
            let verifier = client.origin == .registered ? registeredKeys : self.keys
            claims = try await verifier.verify(assertion, by: rules)
        } catch ProviderError.refused {
            throw OAuthError.invalidClient
        } catch ProviderError.unavailable {
            throw OAuthError(.temporarilyUnavailable, "The client's keys cannot be fetched")
        }
        guard claims["sub"].string?.hasSameBytes(as: client.id) == true, let id = claims["jti"].string,
            (1...512).contains(id.utf8.count), let expiry = claims["exp"].date,
            expiry.timeIntervalSince(time.now()) <= (Self.longestAssertion + TokenRules.leeway).inSeconds
        else { throw OAuthError.invalidClient }
        let use = SingleUse(id: "\(client.id)\n\(id)", expires: expiry)
        let isFirst = try await retryingOnConflict {
            try await store.spend(use, provider: "client_assertion", application: issuer.application.id)
        }
        guard isFirst else { throw OAuthError.invalidClient }
    }

    /// The `sub` of an assertion that is not verified yet, by which its client is found.
    fileprivate static func subject(of assertion: String) -> String? {
        guard assertion.utf8.count <= 8192 else { return nil }
        return Data(payloadOfUnverified: assertion).flatMap { JSONValue(json: Array($0)) }?["sub"].string
    }
}

extension ClientAuthentication {
    /// The client of a secret, or of the name alone.
    ///
    /// With Basic, id and secret are accepted form-encoded, as RFC 6749 requires, and as they are, as many clients send
    /// them.
    /// - Throws: `invalid_request` if two clients are named, otherwise `invalid_client`.
    private func authenticate(
        _ credentials: ClientCredentials, connectedBy connection: Client, at issuer: Issuer
    ) async throws -> OAuthClient {
        guard credentials.authorization != nil else {
            guard let id = credentials.clientID else { throw OAuthError.invalidClient }
            guard let secret = credentials.clientSecret else {
                let client = try await directory.client(id, at: issuer)
                guard client.isPublic else { throw OAuthError.invalidClient }
                return client
            }
            guard let client = try await client(id, with: secret, connectedBy: connection, at: issuer) else {
                throw OAuthError.invalidClient
            }
            return client
        }
        for (id, secret) in credentials.basic {
            guard let client = try await client(id, with: secret, connectedBy: connection, at: issuer) else {
                continue
            }
            if let sent = credentials.clientID, !sent.hasSameBytes(as: client.id) { throw OAuthError.otherClient }
            return client
        }
        throw OAuthError.invalidClient
    }

    /// The client with this id and secret; one statement finds an installation and notes its use.
    private func client(
        _ id: String, with secret: String, connectedBy connection: Client, at issuer: Issuer
    ) async throws -> OAuthClient? {
        guard !OAuthClient.isInstance(id) else {
            return try await directory.instance(id, secret: secret, from: connection, at: issuer)
        }
        let client = try await directory.find(id, at: issuer)
        return client?.hasSecret(secret) == true ? client : nil
    }
}

extension OpenIDSettings {
    /// The id of the configured client that the credentials name.
    package func name(in credentials: ClientCredentials) -> String? {
        credentials.ids.lazy.compactMap { try? client($0).id }.first
    }
}

extension ClientCredentials {
    /// The readings of a Basic header: decoded, and as it is; empty without one.
    fileprivate var basic: [(id: String, secret: String)] {
        guard let parts = authorization?.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1), parts.count == 2,
            Substring(parts[0]).hasSameBytes(ignoringCaseAs: "basic"),
            let decoded = Data(base64Encoded: String(Substring(parts[1]))),
            let text = String(validating: decoded, as: UTF8.self),
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return [] }
        let (id, secret) = (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
        let plain = { (part: String) in
            // By bytes, because characters of a text from outside are slow to find.
            String(decoding: part.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
                .removingPercentEncoding
        }
        guard let plainID = plain(id), let plainSecret = plain(secret) else { return [(id, secret)] }
        let isPlain = plainID.hasSameBytes(as: id) && plainSecret.hasSameBytes(as: secret)
        return isPlain ? [(id, secret)] : [(plainID, plainSecret), (id, secret)]
    }
}
