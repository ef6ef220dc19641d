internal import Foundation
internal import ProviderKit

/// Our registration with a service, and what is done with it at the service's own endpoints.
struct OAuthClient: Sendable {
    let id: String
    /// A public client has none.
    let secret: String?
    let http: any HTTPFetching

    /// Exchanges a code (RFC 6749, 4.1.3; RFC 7636, 4.5).
    /// - Throws: `ProviderError`.
    func exchange(
        _ code: String, of flow: RedirectFlow, at endpoint: String, by authentication: ClientAuthentication,
        proofKey: Bool
    ) async throws -> TokenResponse {
        var form = ["grant_type": "authorization_code", "code": code, "redirect_uri": flow.callbackURL]
        if proofKey { form["code_verifier"] = flow.codeVerifier }
        let response = try await http.fetch(request(form, to: endpoint, by: authentication))
        return try TokenResponse(response.document())
    }

    /// Gives a token back (RFC 7009, 2.1).
    ///
    /// A token that the service does not know any more is as good as given back.
    /// - Throws: `ProviderError.unavailable`: to be tried again.
    func revoke(
        _ token: String, kind: String, at endpoint: String, by authentication: ClientAuthentication
    ) async throws {
        let form = ["token": token, "token_type_hint": kind]
        let response = try await http.fetch(request(form, to: endpoint, by: authentication))
        // 401 is about us, not the token.
        guard response.isSuccess || (response.isRefusal && response.status != 401) else {
            throw ProviderError.unavailable
        }
    }

    private func request(
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
        case .post:
            return .post(endpoint, form: form.merging(["client_id": id, "client_secret": secret]) { $1 })
        }
    }
}

/// How a client with a secret shows it (RFC 6749, 2.3.1).
enum ClientAuthentication: String, Sendable, CaseIterable {
    /// In the `Authorization` header, each part encoded as in a form.
    case basic
    /// In the form.
    case post
}
