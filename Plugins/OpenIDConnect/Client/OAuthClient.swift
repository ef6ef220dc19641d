internal import Foundation
internal import ProviderKit

/// A client's registration with a service, and the calls to the service that need it.
struct OAuthClient: Sendable {
    let id: String
    /// The client secret; `nil` for a public client.
    let secret: String?
    let http: any HTTPFetching
    let findings: any FindingNoting

    init(id: String, secret: String?, ports: ProviderPorts) {
        (self.id, self.secret, http, findings) = (id, secret, ports.http, ports.findings)
    }

    /// Exchanges a code (RFC 6749, 4.1.3; RFC 7636, 4.5).
    /// - Throws: `ProviderError`.
    func exchange(
        _ code: String, of flow: RedirectFlow, at endpoint: String, by authentication: ClientAuthentication,
        proofKey: Bool
    ) async throws -> TokenResponse {
        var form = ["grant_type": "authorization_code", "code": code, "redirect_uri": flow.callbackURL]
        if proofKey { form["code_verifier"] = flow.codeVerifier }
        let response = try await http.fetch(request(form, to: endpoint, by: authentication))
        TokenRefusal(response).finding.map(findings.note)
        return try TokenResponse(response.document())
    }

    /// Revokes a token (RFC 7009, 2.1); a token that the service no longer knows counts as revoked.
    /// - Throws: `ProviderError.unavailable` if the server should try again later.
    func revoke(
        _ token: String, kind: String, at endpoint: String, by authentication: ClientAuthentication
    ) async throws {
        let form = ["token": token, "token_type_hint": kind]
        let response = try await http.fetch(request(form, to: endpoint, by: authentication))
        // Status 401 refuses the client, not the token.
        guard response.isSuccess || (response.isRefusal && response.status != 401) else {
            throw ProviderError.unavailable
        }
    }

    func request(
        _ form: [String: String], to endpoint: String, by authentication: ClientAuthentication
    ) -> FetchRequest {
        guard let secret else {
            return .post(endpoint, form: form.merging(["client_id": id]) { $1 })
        }
        switch authentication {
        case .basic:
            var request = FetchRequest.post(endpoint, form: form)
            let pair = "\(id.formEncoded):\(secret.formEncoded)"
            request.headers["Authorization"] = "Basic \(Data(pair.utf8).base64EncodedString())"
            return request
        case .post: return .post(endpoint, form: form.merging(["client_id": id, "client_secret": secret]) { $1 })
        }
    }
}

/// How a client sends its secret (RFC 6749, 2.3.1).
enum ClientAuthentication: String, Sendable, CaseIterable {
    /// In the `Authorization` header, with id and secret form-encoded.
    case basic
    /// In the form of the request.
    case post
}

extension String {
    /// Adds the flow's proof key (RFC 7636, 4.3) if the service supports proof keys.
    func addingProofKey(of flow: RedirectFlow, if isUsed: Bool) -> String {
        isUsed ? addingQuery(["code_challenge": flow.codeChallenge, "code_challenge_method": "S256"]) : self
    }
}
