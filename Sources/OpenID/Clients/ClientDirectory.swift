package import Accounts
package import Foundation
internal import ProviderKit

/// A client that has registered itself, as the database has it.
package struct StoredClient: Sendable {
    package enum Registration: Sendable {
        case registered(ClientMetadata)
        case instance(ClientInstance, InstanceMetadata)
    }

    package let id: String
    /// The issuer at which it has registered.
    package let issuer: String
    package var registration: Registration
    /// SHA-256 of the secret; `nil` for a client that has none.
    package let secret: [UInt8]?
    package let createdAt: Date
    /// When it was last used, with the precision of an hour; `nil` if it never was.
    package let lastUsedAt: Date?
    /// Whether a use now has to be noted.
    package let isUseStale: Bool

    package init(
        id: String, issuer: String, registration: Registration, secret: [UInt8]?, createdAt: Date, lastUsedAt: Date?,
        isUseStale: Bool
    ) {
        (self.id, self.issuer, self.registration, self.secret) = (id, issuer, registration, secret)
        (self.createdAt, self.lastUsedAt, self.isUseStale) = (createdAt, lastUsedAt, isUseStale)
    }
}

/// An installation of an app on one device.
package struct ClientInstance: Sendable, Equatable {
    /// The configured name of the app.
    package let software: String
    package let deviceType: String
    package let deviceName: String?
    /// The account that signed in on the installation, and the session that was opened; `nil` before the first sign-in.
    package var account, session: UUID?
    /// That session, if the installation has just authenticated itself.
    package var signedIn: InstanceSession?

    package init(software: String, deviceType: String, deviceName: String?, account: UUID?, session: UUID?) {
        (self.software, self.deviceType, self.deviceName) = (software, deviceType, deviceName)
        (self.account, self.session) = (account, session)
    }
}

/// The live session of an installation.
package struct InstanceSession: Sendable, Equatable {
    package let grant: SessionGrant
    package let isGuest: Bool
    /// The scopes that the account has allowed the app, which a third party's needs.
    package let consented: [String]

    package init(grant: SessionGrant, isGuest: Bool, consented: [String]) {
        (self.grant, self.isGuest, self.consented) = (grant, isGuest, consented)
    }
}

/// The account that has signed in on an installation, as another person sees it.
package struct InstanceOwner: Sendable {
    private let name, address: String?

    package init(name: String?, address: String?) { (self.name, self.address) = (name, address) }

    /// The account's name, or the beginning of its address.
    package var recognisable: String? {
        if let name, !name.isEmpty { return name }
        guard let address, let first = address.first else { return nil }
        let at = address.utf8.lastIndex(of: UInt8(ascii: "@"))
        return "\(first)•••\(at.map { String(address[$0...]) } ?? "")"
    }
}

/// An installation that presents its secret.
package struct InstanceUse: Sendable {
    package let id: String
    /// SHA-256 of the secret.
    package let secret: [UInt8]
    package let issuer: String
    /// The address that it calls from.
    package let address: String
    /// How long it may stay unused from now on.
    package let idle: Duration
}

package protocol ClientStore: Sendable {
    /// A client that can still be used: an instance whose session is live, or that is waiting for its first sign-in.
    func storedClient(_ id: String, application: Application.ID) async throws -> StoredClient?
    /// Notes that a registered client is used, which may then stay unused for `idle`; does nothing if no person has
    /// allowed the client anything.
    func noteUse(ofClient id: String, idle: Duration, application: Application.ID) async throws

    /// An installation with the session on it, and notes its use; `nil` for another secret, too.
    func instance(_ use: InstanceUse, application: Application.ID) async throws -> StoredClient?
}

/// Finds clients by their ids: configured ones in memory, the others in the database.
package struct ClientDirectory: Sendable {
    let store: any ClientStore

    /// The client that has this id at the issuer; `nil` also for a name that no client can have.
    package func find(_ id: String, at issuer: Issuer) async throws -> OAuthClient? {
        try await find(id, at: [issuer.url], of: issuer)
    }

    /// The client that has this id at any issuer of the application, for those who see the account's clients.
    package func find(_ id: String, inApplicationOf issuer: Issuer) async throws -> OAuthClient? {
        try await find(id, at: issuer.urls, of: issuer)
    }

    private func find(_ id: String, at urls: [String], of issuer: Issuer) async throws -> OAuthClient? {
        guard OAuthClient.isStored(id) else { return try? issuer.settings.client(id) }
        let stored = try await store.storedClient(id, application: issuer.application.id)
        guard let stored, stored.id.hasSameBytes(as: id), urls.containsBytes(of: stored.issuer) else { return nil }
        return OAuthClient(stored, settings: issuer.settings)
    }

    /// Notes that a registered client has authenticated itself, at most once an hour unless it expires soon.
    func noteUse(of client: OAuthClient, at issuer: Issuer) async throws {
        guard client.origin == .registered, client.isUseStale else { return }
        try await store.noteUse(
            ofClient: client.id, idle: issuer.settings.registration.idle, application: issuer.application.id)
    }

    /// The client that has this id at the issuer.
    /// - Throws: `OAuthError.invalidClient`.
    package func client(_ id: String, at issuer: Issuer) async throws -> OAuthClient {
        guard let client = try await find(id, at: issuer) else { throw OAuthError.invalidClient }
        return client
    }

    /// The installation of an app that has this id and this secret; `nil` for other clients.
    func instance(
        _ id: String, secret: String, from connection: Client, at issuer: Issuer
    ) async throws -> OAuthClient? {
        guard let software = issuer.software(ofInstance: id) else { return nil }
        let use = InstanceUse(
            id: id, secret: Digest.sha256(of: secret), issuer: issuer.url, address: connection.address,
            idle: software.idle)
        let stored = try await store.instance(use, application: issuer.application.id)
        return stored.flatMap { OAuthClient($0, settings: issuer.settings) }
    }

    /// The client of a token, if it is still there; for an installation of an app, which is there as long as the token's
    /// session, the app.
    func client(of token: ClientAccessToken, at issuer: Issuer) async throws -> OAuthClient? {
        let issuer = issuer.named(token.issuer) ?? issuer
        if let software = issuer.software(ofInstance: token.clientID) { return software.template }
        return try await find(token.clientID, at: issuer)
    }

    /// The client of a stored request; `nil` if it may not send the request any more.
    func client(of request: ClientRequest, at issuer: Issuer) async throws -> OAuthClient? {
        if OwnClient(rawValue: request.clientID) != nil { return issuer.ownClient(of: request) }
        guard let client = try await find(request.clientID, at: issuer), client.grants.contains(.authorizationCode),
            client.hasRedirectURI(request.returnAddress.redirectURI)
        else { return nil }
        return client
    }
}

extension OAuthClient {
    /// The beginnings of the ids of instances and of other registered clients, which no configured client has.
    package static let instancePrefix = "dyn~"
    package static let registeredPrefix = "reg~"

    /// Whether the server issues ids of this form.
    ///
    /// Only such ids reach the database, which cannot store all text: U+0000 would be an error there.
    package static func isStored(_ id: String) -> Bool { isRegistered(id) || isInstance(id) }

    /// Whether a client with metadata of its own has this id: `reg~` and 128 bits in base64url.
    package static func isRegistered(_ id: String) -> Bool {
        let random = id.utf8.dropFirst(registeredPrefix.utf8.count)
        return id.utf8.starts(with: registeredPrefix.utf8) && random.count == 22
            && random.allSatisfy { $0.isASCIILetterOrDigit || "-_".utf8.contains($0) }
    }

    /// Whether an installation of an app has this id: `dyn~`, the name of the app, `~`, and a UUID in lower case.
    package static func isInstance(_ id: String) -> Bool {
        guard id.utf8.starts(with: instancePrefix.utf8), id.utf8.count <= 128 else { return false }
        let parts = id.utf8.dropFirst(instancePrefix.utf8.count).split(
            separator: UInt8(ascii: "~"), omittingEmptySubsequences: false)
        guard parts.count == 2, let unique = parts.last.map({ String(Substring($0)) }) else { return false }
        return UUID(uuidString: unique)?.text.hasSameBytes(as: unique) == true
            && parts[0].allSatisfy { $0.isASCIILetterOrDigit || "._-".utf8.contains($0) }
    }

    /// - Returns: `nil` if the configuration has the client's software no more.
    init?(_ stored: StoredClient, settings: OpenIDSettings) {
        switch stored.registration {
        case .registered(let metadata):
            guard let client = metadata.client(id: stored.id, secret: stored.secret, settings: settings) else {
                return nil
            }
            self = client
        case .instance(let instance, let metadata):
            guard let software = settings.software(instance.software), let secret = stored.secret else { return nil }
            self.init(instance, metadata, of: software, id: stored.id)
            secrets = [secret]
        }
        isUseStale = stored.isUseStale
    }

    /// An instance without its secret.
    init(_ instance: ClientInstance, _ metadata: InstanceMetadata, of software: Software, id: String) {
        self.init(software.template, id: id)
        origin = .instance(instance)
        if let uris = metadata.redirectURIs { redirectURIs.removeAll { !uris.containsBytes(of: $0.text) } }
        if let scope = metadata.scope { scopes.formIntersection(scope.spacedWords) }
    }
}
