internal import Accounts
internal import Foundation
internal import ProviderKit

/// Evidence for an identity, with the fields of all proofs that the server itself defines.
struct ProofBody: RequestPayload {
    /// The provider's name, read only by `reauthenticate`; the paths of other routes contain it.
    let provider: String?
    /// The choice for a guest's account if the identity already belongs to another account.
    let onConflict: ConflictChoice?
    let challengeId: String?
    let code: String?
    let email: String?
    let password: String?
    let state: String?
    let redirectURI: String?
    let codeVerifier: String?
    let idToken: String?
    let nonce: String?
    let accessToken: String?
    let remember: Bool?

    static let fields = RequestFields(
        Self.init, .init("provider"), .init("onConflict"), .init("challengeId"), .init("code"), .init("email", .email),
        .init("password"), .init("state"), .init("redirect_uri"), .init("codeVerifier"), .init("idToken"),
        .init("nonce"), .init("accessToken"), .init("remember", .remember))
}

/// The body of `reauthenticate`, whose path names no provider.
struct NamedProofBody: RequestPayload {
    let proof: ProofBody

    static let fields = RequestFields(Self.init, .init(flattening: ProofBody.self, required: ["provider"]))
}

/// The new address, in the field for the kind of address that the identity's provider uses.
struct AddressBody: RequestPayload {
    let email: String?
    let phone: String?

    static let fields = RequestFields(Self.init, .init("email", .email), .init("phone", .phone))
}

struct AuthorizationBody: RequestPayload {
    let redirectURI: String?
    let codeChallenge: String?
    /// `S256`, the default if there is a code challenge.
    let codeChallengeMethod: String?
    let state: String?
    let remember: Bool?
    let parameters: ForwardedParameters?

    static let fields = RequestFields(
        Self.init, .init("redirect_uri", isRequired: true), .init("code_challenge", .codeChallenge),
        .init("code_challenge_method", .enumeration(["S256"])), .init("state"), .init("remember", .remember),
        .init("parameters"))

    var request: AuthorizationRequest {
        var request = AuthorizationRequest(
            redirectURI: redirectURI, codeChallenge: codeChallenge,
            codeChallengeMethod: codeChallengeMethod ?? codeChallenge.map { _ in "S256" }, state: state,
            isBrowserDriven: false)
        request.opensShortSession = remember == false
        request.parameters = parameters?.values ?? [:]
        return request
    }
}

/// What an app passes to the provider's page, by the names that the provider's setting `forward` lists.
struct ForwardedParameters: RequestValue {
    let values: [String: String]

    static let schema: JSONSchema = {
        var schema = JSONSchema.dictionary(
            of: JSONSchema(.string, pattern: JSONSchema.noNUL, length: 1...256))
        schema.description = "Passed to the provider's page, by names that the provider's `forward` lists."
        return schema
    }()

    init(from decoder: any Decoder) throws { values = try [String: String](from: decoder) }
}

/// Changes of an account; absent fields are not changed.
struct UserChanges: RequestPayload {
    let displayName: String?
    /// Replaces the whole metadata.
    let metadata: JSONValue?

    static let fields = RequestFields(
        Self.init, .init("displayName", .displayName),
        .init("metadata", .metadata, largest: Profile.largestMetadata))
}

struct MergeBody: RequestPayload {
    let mergeToken: String
    /// Returns the plan without merging; the token stays valid.
    let dryRun: Bool?
    /// The account whose `uid` survives; by default the older permanent account.
    let survivor: SurvivorChoice?
    let remember: Bool?

    static let fields = RequestFields(
        Self.init, .init("mergeToken"), .init("dryRun"), .init("survivor"), .init("remember", .remember))
}

struct ReviewBody: RequestPayload {
    let token: String
    /// The ids of identities to keep, which may open sessions again.
    let keep: [UUID]?
    /// The ids of identities to remove.
    let remove: [UUID]?

    static let fields = RequestFields(Self.init, .init("token"), .init("keep"), .init("remove"))
}

/// The token of an invitation, and either the password of the new account or a proof of a provider's identity.
struct AcceptedInvitationBody: RequestPayload {
    let token: String
    let displayName: String?
    let providerToken: String?
    let proof: ProofBody

    static let fields = RequestFields(
        Self.init, .init("token"), .init("displayName", .displayName), .init("providerToken", .providerToken),
        .init(flattening: ProofBody.self))
}

/// The token of a recovery link, and either a new password or a proof of a provider's identity.
struct UsedRecoveryBody: RequestPayload {
    let token: String
    let newPassword: String?
    let providerToken: String?
    let proof: ProofBody

    static let fields = RequestFields(
        Self.init, .init("token"), .init("newPassword", .newPassword), .init("providerToken", .providerToken),
        .init(flattening: ProofBody.self))
}
