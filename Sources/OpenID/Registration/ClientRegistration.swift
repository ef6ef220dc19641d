package import Accounts
internal import Foundation
package import ProviderKit

/// Registers, shows and deletes clients that are not configured (RFC 7591, 7592).
///
/// An installation of configured software registers with a token of the software and a statement about it; any other
/// client with metadata, if the application allows that.
package struct ClientRegistration: Sendable {
    let store: any ClientRegistrationStore
    let statements: SoftwareStatements
    /// Checks keys that a client sends; fetches none.
    let keys: any TokenVerifying
    let opaque: any OpaqueTokens

    /// How long a client is kept that no person has allowed anything, so that unused ones do not fill the quota.
    private static let unusedLifetime: Duration = .seconds(86_400)

    /// Registers a client; `token` is the initial access token, if one was sent.
    /// - Returns: The members of the response.
    /// - Throws: `OAuthError`.
    package func register(
        _ members: [String: JSONValue], token: String?, from connection: Client, at issuer: Issuer
    ) async throws -> [String: JSONValue] {
        let hash = token.map { Digest.sha256(of: $0) }
        if let id = members["software_id"]?.string, let software = issuer.settings.software(id) {
            try Self.check(hash, of: software, in: issuer.settings)
            return try await registerInstance(of: software, named: id, members, from: connection, at: issuer)
        }
        // Only apps have such a token, so that software_id is missing or wrong.
        if let hash, issuer.settings.hasSoftware(with: hash) { throw OAuthError.invalidStatement }
        try Self.check(hash, by: issuer.settings.registration)
        return try await registerClient(members, at: issuer)
    }

    private static func check(
        _ token: [UInt8]?, of software: Software, in settings: OpenIDSettings
    ) throws(OAuthError) {
        guard let token, settings.hasSoftware(with: token) else { throw .invalidInitialToken }
        guard software.initialTokens.containsSecret(token) else { throw .invalidStatement }
    }

    private static func check(_ token: [UInt8]?, by settings: RegistrationSettings) throws(OAuthError) {
        switch settings.mode {
        case .open: break
        case .token:
            guard let token, settings.initialTokens.containsSecret(token) else { throw .invalidInitialToken }
        case .off: throw .invalidInitialToken
        }
    }

    private func registerInstance(
        of software: Software, named name: String, _ members: [String: JSONValue], from connection: Client,
        at issuer: Issuer
    ) async throws -> [String: JSONValue] {
        guard let type = members["device_type"]?.string, type.isDeviceType else { throw OAuthError.invalidDeviceType }
        let deviceName = try Self.deviceName(members["device_name"])
        guard let statement = members["software_statement"]?.string else { throw OAuthError.invalidStatement }
        let metadata = try await statements.metadata(of: statement, about: software, named: name, at: issuer)
        let instance = ClientInstance(
            software: name, deviceType: type, deviceName: deviceName, account: nil, session: nil)
        let network = opaque.pseudonym(of: "\(name)\n\(connection.network)", purpose: "client registrations")
        return try await store(
            .instance(instance, metadata), id: "\(OAuthClient.instancePrefix)\(name)~\(UUID().text)",
            counting: .instances(network), for: software.firstLoginWithin, at: issuer)
    }

    /// - Throws: `invalid_client_metadata` for a name that is too long, or that would change how pages are laid out.
    private static func deviceName(_ value: JSONValue?) throws(OAuthError) -> String? {
        guard let value, !value.isNull else { return nil }
        guard let name = value.string, name.isShowable(upTo: 64) else {
            throw OAuthError(.invalidClientMetadata, "device_name is not a name of up to 64 characters")
        }
        return name.allSatisfy(\.isWhitespace) ? nil : name
    }

    private func registerClient(_ members: [String: JSONValue], at issuer: Issuer) async throws -> [String: JSONValue] {
        let metadata = try ClientMetadata(requested: members, at: issuer, checkingKeysBy: keys)
        return try await store(
            .registered(metadata), id: OAuthClient.registeredPrefix + Digest.base64URL(SystemRandom.bytes(16)),
            counting: .registered, for: min(issuer.settings.registration.idle, Self.unusedLifetime), at: issuer)
    }

    private func store(
        _ registration: StoredClient.Registration, id: String, counting quota: NewClient.Quota,
        for lifetime: Duration, at issuer: Issuer
    ) async throws -> [String: JSONValue] {
        let secret = registration.hasSecret ? opaque.make().text : nil
        let token = opaque.make()
        let client = NewClient(
            id: id, issuer: issuer.url, registration: registration, secret: secret.map { Digest.sha256(of: $0) },
            registrationToken: token.hash, quota: quota, lifetime: lifetime,
            logoutLane: registration.logoutURI.map { _ in LogoutDelivery.lane(ofRegistered: id) })
        let created = try await retryingOnConflict {
            try await store.register(client, application: issuer.application.id)
        }
        guard let created else {
            throw OAuthError(.temporarilyUnavailable, "There are too many registrations; try again later")
        }
        var members = try registration.members(of: id, at: issuer)
        members.describe(id, createdAt: created, token: token.text, at: issuer)
        members["client_secret"] = secret.map { .string($0) }
        return members
    }

    // MARK: - Registered clients

    /// The registered metadata of a client, as `register` returned it, but without the secret.
    /// - Throws: `invalid_token` if the token is not that of the client.
    package func read(_ id: String, token: String?, at issuer: Issuer) async throws -> [String: JSONValue] {
        guard let token = token.flatMap(opaque.parse), let client = try await find(id, token: token, at: issuer) else {
            throw OAuthError.invalidRegistrationToken
        }
        var members = try client.registration.members(of: id, at: issuer)
        members.describe(id, createdAt: client.createdAt, token: token.text, at: issuer)
        return members
    }

    /// Refuses to change a client.
    /// - Throws: `invalid_token` if the token is not that of the client, otherwise `invalid_request`.
    package func refuseUpdate(of id: String, token: String?, at issuer: Issuer) async throws {
        _ = try await read(id, token: token, at: issuer)
        throw OAuthError.invalidRequest("A registration cannot be changed; register again")
    }

    /// Deletes a client, and ends its sessions.
    /// - Throws: `invalid_token` if the token is not that of the client.
    package func delete(_ id: String, token: String?, at issuer: Issuer) async throws {
        guard let token = token.flatMap(opaque.parse), try await find(id, token: token, at: issuer) != nil,
            try await store.delete(
                id, registrationToken: token.hash, recording: ["by": "client"], in: issuer.application)
        else { throw OAuthError.invalidRegistrationToken }
    }

    private func find(_ id: String, token: OpaqueToken, at issuer: Issuer) async throws -> StoredClient? {
        guard OAuthClient.isStored(id) else { return nil }
        let client = try await store.storedClient(
            id, registrationToken: token.hash, application: issuer.application.id)
        return client?.issuer.hasSameBytes(as: issuer.url) == true ? client : nil
    }
}

extension ClientRegistrationStore {
    /// Deletes a client and ends its sessions.
    ///
    /// `details` are those of the audit event; they say who deleted the client.
    /// - Returns: `false` if there is no such client.
    package func delete(
        _ id: String, registrationToken: [UInt8]?, recording details: [String: JSONValue], in application: Application
    ) async throws -> Bool {
        let isDeleted = try await retryingTransaction { store in
            let deleted = try await store.deleteClient(
                id, registrationToken: registrationToken, recording: details, application: application.id)
            guard let deleted else { return false }
            if let (session, account) = deleted.session {
                try await store.endSessions(
                    .one(session), of: account, because: .instanceDeleted, application: application.id)
            }
            return true
        }
        if isDeleted { try await endSessionsOfDeletedClients(in: application.id) }
        return isDeleted
    }
}

extension OAuthError {
    fileprivate static let invalidInitialToken = OAuthError(
        .invalidToken, "The initial access token is missing or not valid")
    fileprivate static let invalidRegistrationToken = OAuthError(
        .invalidToken, "The registration access token is missing or not valid")
    fileprivate static let invalidDeviceType = OAuthError(
        .invalidClientMetadata, "device_type is not 1 to 32 letters, digits, _ and -")
}

extension OpenIDSettings {
    /// Whether the token with this SHA-256 is one of any software.
    fileprivate func hasSoftware(with token: [UInt8]) -> Bool {
        software.values.reduce(false) { $1.initialTokens.containsSecret(token) || $0 }
    }
}

extension String {
    fileprivate var isDeviceType: Bool {
        (1...32).contains(utf8.count) && utf8.allSatisfy { $0.isASCIILetterOrDigit || "_-".utf8.contains($0) }
    }
}
