internal import Accounts
internal import Foundation
internal import ProviderKit

extension StoredClient.Registration {
    var hasSecret: Bool {
        switch self {
        case .registered(let metadata): metadata.authenticationMethod.hasSecret
        case .instance: true
        }
    }

    var logoutURI: String? { if case .registered(let metadata) = self { metadata.backchannelLogoutURI } else { nil } }

    /// The registered metadata, in the form of a response (RFC 7591, 3.2.1).
    /// - Throws: `invalid_token` if the client's software is not configured any more.
    func members(of id: String, at issuer: Issuer) throws -> [String: JSONValue] {
        switch self {
        case .registered(let metadata):
            var members = try metadata.members
            // It follows the configuration, whatever was registered.
            let algorithm = issuer.application.policy.tokens.algorithm
            members[ClientMetadata.CodingKeys.identityTokenAlgorithm.rawValue] = .string(algorithm.rawValue)
            return members
        case .instance(let instance, let metadata):
            guard let software = issuer.settings.software(instance.software) else { throw OAuthError.invalidToken }
            let client = OAuthClient(instance, metadata, of: software, id: id)
            // Responses to apps of Blitz name only this grant, even if the client may use others.
            let grants = issuer.place == .blitz ? [.authorizationCode] : client.grants
            var members: [String: JSONValue] = [
                "software_id": .string(instance.software), "software_version": .string(software.version),
                "device_type": .string(instance.deviceType),
                "scope": .string(client.scopes.inOrder.joined(separator: " ")),
                "redirect_uris": .array(client.redirectURIs.map { .string($0.text) }),
                "grant_types": .array(grants.map(\.rawValue).sorted().map { .string($0) }),
                "response_types": ["code"],
                "token_endpoint_auth_method": .string(ClientMetadata.AuthenticationMethod.secretBasic.rawValue),
            ]
            members["device_name"] = instance.deviceName.map { .string($0) }
            return members
        }
    }
}

extension ClientMetadata {
    fileprivate var members: [String: JSONValue] {
        get throws {
            let json = try JSONEncoder.stable.encode(self)
            return try JSONDecoder().decode([String: JSONValue].self, from: json)
        }
    }
}

extension [String: JSONValue] {
    /// Adds what the server has chosen (RFC 7591, 3.2.1; RFC 7592, 3).
    mutating func describe(_ id: String, createdAt: Date, token: String, at issuer: Issuer) {
        self["client_id"] = .string(id)
        self["client_id_issued_at"] = .integer(Int64(createdAt.timeIntervalSince1970))
        self["registration_client_uri"] = .string("\(issuer.url(of: .registration))/\(id)")
        self["registration_access_token"] = .string(token)
        let method = self["token_endpoint_auth_method"]?.string.flatMap(ClientMetadata.AuthenticationMethod.init)
        if method?.hasSecret == true { self["client_secret_expires_at"] = 0 }
    }
}
