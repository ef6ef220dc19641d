internal import Accounts
internal import ProviderKit

/// The settings of an application's OpenID provider.
package struct OpenIDSettings: Sendable, Equatable {
    /// A service that takes access tokens (RFC 8707).
    package struct Resource: Sendable, Equatable {
        package var accessLifetime: Duration?
        /// The texts of each scope by language.
        package var scopes: [String: [String: String]]

        package init(accessLifetime: Duration? = nil, scopes: [String: [String: String]] = [:]) {
            (self.accessLifetime, self.scopes) = (accessLifetime, scopes)
        }
    }

    /// Single sign-on.
    package struct BrowserSessions: Sendable, Equatable {
        package enum Remember: String, Sendable, CaseIterable, Decodable { case ask, always, never }

        /// How long a session that is not remembered may stay unused.
        package var idle: Duration = .seconds(12 * 3600)
        package var lifetime: Duration = .seconds(30 * 86400)
        package var remember = Remember.ask

        package init() {}
    }

    /// What pages show of the operator.
    package struct Pages: Sendable, Equatable {
        /// What pages call the application; `nil` for the application's name.
        package var name: String?
        /// The language of pages if the person's language is unknown or not available.
        package var language = "en"
        /// The URLs of the privacy policy, the terms of service, and help.
        package var privacy, terms, support: String?
        package var logo: Picture?
        /// The colour of links and buttons on light and on dark ground; `nil` for the style sheet's own.
        package var accent, darkAccent: Colour?

        package init() {}
    }

    package var clients: [String: OAuthClient]
    package var resources: [String: Resource]
    package var software: [String: Software] = [:]
    package var registration = RegistrationSettings()
    package var qr = QRSettings()
    /// The places at which the issuer's endpoints are, too.
    package var paths: Set<Issuer.Place> = []
    package var browserSessions = BrowserSessions()
    package var pages = Pages()
    /// How long a person may take to answer the pages of one authorization request.
    package var requestLifetime: Duration = .seconds(1800)

    package init(clients: [String: OAuthClient] = [:], resources: [String: Resource] = [:]) {
        (self.clients, self.resources) = (clients, resources)
    }

    /// Whether people sign in here, and not just clients by themselves.
    package var signsPeopleIn: Bool {
        clients.isEmpty || takesRegistrations
            || clients.values.contains { !$0.grants.isDisjoint(with: [.authorizationCode, .deviceCode]) }
    }

    /// The configured client with this id.
    /// - Throws: `OAuthError.invalidClient`, also for a name that no client can have.
    package func client(_ id: String) throws(OAuthError) -> OAuthClient {
        // Keys of dictionaries are compared as characters, so that other bytes may find the client, too.
        guard id.utf8.count <= 64, let client = clients[id], client.id.hasSameBytes(as: id) else {
            throw .invalidClient
        }
        return client
    }

    /// The configured software with this id.
    func software(_ id: String) -> Software? {
        guard id.utf8.count <= 64, let index = software.index(forKey: id), software.keys[index].hasSameBytes(as: id)
        else { return nil }
        return software.values[index]
    }

    /// Whether clients can register themselves.
    package var takesRegistrations: Bool { !software.isEmpty || registration.mode != .off }

    /// The scopes that the client may have, also those of its resources.
    package func scopes(of client: OAuthClient) -> Set<String> {
        client.resources.reduce(into: client.scopes) { $0.formUnion(scopes(ofResource: $1)) }
    }

    /// The scopes that the client may ask for, with both names of `qr` if it may have one.
    func grantable(to client: OAuthClient) -> Set<String> {
        let scopes = scopes(of: client)
        return scopes.isDisjoint(with: StandardScope.qrNames) ? scopes : scopes.union(StandardScope.qrNames)
    }

    /// The scopes of a resource; none if it is not configured.
    func scopes(ofResource resource: String) -> [String] {
        resources[resource].map { Array($0.scopes.keys) } ?? []
    }

    /// The scopes that discovery lists.
    package var publishedScopes: [String] {
        let standard: [StandardScope] = [.openid, .profile, .email, .phone, .offlineAccess]
        let used = Set(clients.values.flatMap(\.resources))
        let scopes = Set((clients.values.map(\.scopes) + software.values.map(\.template.scopes)).joined())
        let extra: [StandardScope] =
            (scopes.contains(StandardScope.native.rawValue) ? [.native] : [])
            + (scopes.isDisjoint(with: StandardScope.qrNames) ? [] : [.qr])
        return (standard + extra).map(\.rawValue)
            + Set(resources.filter { used.contains($0.key) }.flatMap(\.value.scopes.keys)).sorted()
    }

    /// The longest lifetime that is set for the access tokens of a client or a resource.
    package var longestAccessLifetime: Duration {
        let clients = Array(clients.values) + software.values.map(\.template)
        return (clients.map(\.accessLifetime) + resources.values.map(\.accessLifetime)).compactMap { $0 }.max() ?? .zero
    }

    /// The lifetime of an access token: the resource's, else the client's, else the application's.
    func accessLifetime(of client: OAuthClient, resource: String?, in policy: ApplicationPolicy) -> Duration {
        resource.flatMap { resources[$0]?.accessLifetime } ?? client.accessLifetime ?? policy.tokens.accessLifetime
    }
}
