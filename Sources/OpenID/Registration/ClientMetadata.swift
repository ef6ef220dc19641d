package import ProviderKit

/// The registered metadata of a client (RFC 7591, 2; OpenID Connect Dynamic Client Registration, 2).
///
/// Encoded, it is what the registration endpoint returns and what the database stores. Members that this server has no
/// use for are left out.
package struct ClientMetadata: Sendable, Codable, Equatable {
    package enum ApplicationType: String, Sendable, Codable, CaseIterable { case web, native }

    /// How the client authenticates at the token endpoint.
    package enum AuthenticationMethod: String, Sendable, Codable, CaseIterable {
        case secretBasic = "client_secret_basic"
        case secretPost = "client_secret_post"
        case privateKey = "private_key_jwt"
        case none

        package var hasSecret: Bool { self == .secretBasic || self == .secretPost }
    }

    package var redirectURIs: [String]
    package var name, uri, logo, policyURI, tosURI: String?
    package var grants: [OAuthClient.Grant]
    package var responseTypes = ["code"]
    /// Words that are separated by spaces.
    package var scope: String
    package var authenticationMethod: AuthenticationMethod
    /// The only algorithm of the client's assertions, if it names one.
    package var assertionAlgorithm: String?
    /// A JWK Set.
    package var keys: JSONValue?
    package var keysURL: String?
    package var subjectType: OAuthClient.SubjectType
    package var identityTokenAlgorithm: String?
    package var applicationType: ApplicationType
    package var defaultMaxAge: Int?
    /// Each ID token has `auth_time`, and each logout token `sid`, whether a client requires them or not.
    package var requiresAuthenticationTime: Bool?
    package var requiresLogoutSession: Bool?
    package var defaultLevels: [String]?
    package var postLogoutRedirectURIs: [String]?
    package var backchannelLogoutURI: String?

    enum CodingKeys: String, CodingKey {
        case redirectURIs = "redirect_uris"
        case name = "client_name"
        case uri = "client_uri"
        case logo = "logo_uri"
        case policyURI = "policy_uri"
        case tosURI = "tos_uri"
        case grants = "grant_types"
        case responseTypes = "response_types"
        case scope
        case authenticationMethod = "token_endpoint_auth_method"
        case assertionAlgorithm = "token_endpoint_auth_signing_alg"
        case keys = "jwks"
        case keysURL = "jwks_uri"
        case subjectType = "subject_type"
        case identityTokenAlgorithm = "id_token_signed_response_alg"
        case applicationType = "application_type"
        case defaultMaxAge = "default_max_age"
        case requiresAuthenticationTime = "require_auth_time"
        case requiresLogoutSession = "backchannel_logout_session_required"
        case defaultLevels = "default_acr_values"
        case postLogoutRedirectURIs = "post_logout_redirect_uris"
        case backchannelLogoutURI = "backchannel_logout_uri"
    }
}

extension ClientMetadata {
    /// The keys that the client's assertions are verified with.
    var tokenKeys: TokenKeys? {
        keysURL.map { .published(url: $0) } ?? keys.map { .set($0.text) }
    }

    /// The client, which is never one of the operator's; `secret` is the SHA-256 of its secret.
    /// - Returns: `nil` if what it authenticates itself with is missing; it would be a public client otherwise.
    func client(id: String, secret: [UInt8]?, settings: OpenIDSettings) -> OAuthClient? {
        let uris = redirectURIs.compactMap { try? ClientRedirectURI($0) }
        var client = OAuthClient(id: id, names: ["": name ?? uris.first?.destination ?? id])
        client.origin = .registered
        switch authenticationMethod {
        case .secretBasic, .secretPost: client.secrets = [secret].compactMap(\.self)
        case .privateKey: client.keys = tokenKeys
        case .none: break
        }
        guard client.isPublic == (authenticationMethod == .none) else { return nil }
        client.assertionAlgorithm = assertionAlgorithm.flatMap { TokenRules.Algorithm(rawValue: $0) }
        client.redirectURIs = uris
        client.postLogoutRedirectURIs = (postLogoutRedirectURIs ?? []).compactMap { try? ClientRedirectURI($0) }
        client.backchannelLogoutURI = backchannelLogoutURI
        client.scopes = Set(scope.spacedWords).intersection(settings.registration.scopes)
        client.grants = Set(grants)
        client.requiresPKCE = settings.registration.requiresPKCE || client.isPublic
        client.subjectType = subjectType
        client.defaultMaxAge = defaultMaxAge
        client.isDeclaredNative = applicationType == .native
        // A logo is never shown, because its owner has not been checked.
        (client.uri, client.policyURI, client.tosURI) = (uri, policyURI, tosURI)
        return client
    }
}

/// What a software statement has instead of the configuration (RFC 7591, 2.3).
package struct InstanceMetadata: Sendable, Codable, Equatable {
    package var redirectURIs: [String]?
    /// Words that are separated by spaces.
    package var scope: String?

    package init(redirectURIs: [String]? = nil, scope: String? = nil) {
        (self.redirectURIs, self.scope) = (redirectURIs, scope)
    }

    private enum CodingKeys: String, CodingKey {
        case redirectURIs = "redirect_uris"
        case scope
    }
}
