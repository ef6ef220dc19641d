internal import Accounts
internal import ProviderKit

/// What proves an identity: the body of its provider's own sign-in, of which these are the fields of the core.
struct ProofBody: Codable, Sendable {
    enum CodingKeys: String, CodingKey {
        case provider, onConflict, challengeId, code, email, password, state, codeVerifier, idToken, nonce, accessToken
        case redirectURI = "redirect_uri"
    }

    /// At `reauthenticate` alone: elsewhere the path names it.
    let provider: String?
    /// What a guest wants where the identity has an account.
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
}

/// A provider's own body, beside the ticket of a number that was idle for too long.
struct Ticketed<Proof: Decodable & Sendable>: Decodable, Sendable {
    let proof: Proof
    let ticket: String?

    private enum CodingKeys: String, CodingKey {
        case ticket
    }

    init(from decoder: any Decoder) throws {
        proof = try Proof(from: decoder)
        ticket = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .ticket)
    }
}

extension ProofBody: DocumentedFields {
    static var fields: [String: JSONSchema] { ["email": .email] }
}

/// The body of `reauthenticate`, where no path names the provider.
struct NamedProofBody: Decodable, Sendable, DocumentedFields {
    static var fields: [String: JSONSchema] { ProofBody.fields }
    static var requiredFields: Set<String> { ["provider"] }

    init(from decoder: any Decoder) throws {
        _ = try ProofBody(from: decoder)
    }
}
