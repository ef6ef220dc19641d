internal import Accounts
internal import ProviderKit

/// An identity as its owner sees it.
struct IdentityPayload: Codable, Sendable {
    let id: String
    let provider: String
    let providerUid: String
    @Nullable var email: String?
    let emailVerified: Bool
    @Nullable var phone: String?
    let phoneVerified: Bool
    @Nullable var displayName: String?
    let createdAt: Timestamp
    @Nullable var lastUsedAt: Timestamp?
    /// It opened the session that asks.
    let current: Bool
    /// It opens no session until another sign-in of the account: it was linked shortly before a password reset.
    let quarantined: Bool

    init(_ listed: ListedIdentity) {
        let identity = listed.identity
        id = identity.id.text
        provider = identity.provider
        providerUid = identity.providerUid
        email = identity.email?.value
        emailVerified = identity.emailVerified
        phone = identity.phone?.value
        phoneVerified = identity.phoneVerified
        displayName = identity.displayName
        createdAt = Timestamp(identity.createdAt)
        lastUsedAt = identity.lastUsedAt.map(Timestamp.init)
        current = listed.isCurrent
        quarantined = identity.isQuarantined
    }
}

struct IdentityList: Codable, Sendable {
    let identities: [IdentityPayload]
}

struct IdentityRemovalResponse: Codable, Sendable {
    let accountDeleted: Bool
}

/// The new address, under the name that the identity's provider has for it.
struct AddressBody: Codable, Sendable {
    let email: String?
    let phone: String?
}

struct AuthorizationBody: Codable, Sendable {
    enum CodingKeys: String, CodingKey {
        case state
        case redirectURI = "redirect_uri"
        case codeChallenge = "code_challenge"
        case codeChallengeMethod = "code_challenge_method"
    }

    let redirectURI: String?
    let codeChallenge: String?
    /// S256, which is also meant where it is absent.
    let codeChallengeMethod: String?
    let state: String?

    var request: AuthorizationRequest {
        AuthorizationRequest(
            redirectURI: redirectURI, codeChallenge: codeChallenge,
            codeChallengeMethod: codeChallengeMethod ?? codeChallenge.map { _ in "S256" }, state: state,
            isBrowserDriven: false)
    }
}

extension IdentityPayload: DocumentedFields {
    static var fields: [String: JSONSchema] { ["id": .uuid] }
}

extension AddressBody: DocumentedFields {
    static var fields: [String: JSONSchema] { ["email": .email, "phone": .phone] }
}

extension AuthorizationBody: DocumentedFields {
    static var fields: [String: JSONSchema] {
        [
            "code_challenge": .codeChallenge,
            "code_challenge_method": .enumeration(["S256"]),
        ]
    }
    static var requiredFields: Set<String> { ["redirect_uri"] }
}
