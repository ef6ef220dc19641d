internal import Accounts
internal import Foundation
internal import ProviderKit

/// Evidence for an identity: the fields of the core's own providers.
struct ProofBody: RequestPayload {
    /// Only `reauthenticate` reads it; other paths name the provider.
    let provider: String?
    /// What happens to a guest's account if the identity belongs to another account.
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

    static let fields = RequestFields(
        Self.init, .init("provider"), .init("onConflict"), .init("challengeId"), .init("code"), .init("email", .email),
        .init("password"), .init("state"), .init("redirect_uri"), .init("codeVerifier"), .init("idToken"),
        .init("nonce"), .init("accessToken"))
}

/// The body of `reauthenticate`, whose path names no provider.
struct NamedProofBody: RequestPayload {
    let proof: ProofBody

    static let fields = RequestFields(Self.init, .init(flattening: ProofBody.self, required: ["provider"]))
}

/// The new address, under the name that the identity's provider gives it.
struct AddressBody: RequestPayload {
    let email: String?
    let phone: String?

    static let fields = RequestFields(Self.init, .init("email", .email), .init("phone", .phone))
}

struct AuthorizationBody: RequestPayload {
    let redirectURI: String?
    let codeChallenge: String?
    /// `S256`, which is the default.
    let codeChallengeMethod: String?
    let state: String?

    static let fields = RequestFields(
        Self.init, .init("redirect_uri", isRequired: true), .init("code_challenge", .codeChallenge),
        .init("code_challenge_method", .enumeration(["S256"])), .init("state"))

    var request: AuthorizationRequest {
        AuthorizationRequest(
            redirectURI: redirectURI, codeChallenge: codeChallenge,
            codeChallengeMethod: codeChallengeMethod ?? codeChallenge.map { _ in "S256" }, state: state,
            isBrowserDriven: false)
    }
}

/// Changes of an account by its owner; absent fields stay as they are.
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

    static let fields = RequestFields(Self.init, .init("mergeToken"), .init("dryRun"), .init("survivor"))
}

struct ReviewBody: RequestPayload {
    let token: String
    /// Ids of identities that leave quarantine.
    let keep: [UUID]?
    /// Ids of identities to remove.
    let remove: [UUID]?

    static let fields = RequestFields(Self.init, .init("token"), .init("keep"), .init("remove"))
}
