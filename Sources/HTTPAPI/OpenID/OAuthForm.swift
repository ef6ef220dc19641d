internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import ProviderKit

/// The form of a request to an OAuth endpoint, and what authenticates the client.
struct OAuthForm: Sendable {
    let parameters: RequestParameters
    let credentials: ClientCredentials
}

extension RequestShape<OAuthForm> {
    /// Reads a form; secrets in the URL are refused, because URLs are logged.
    static func oauth(_ parameters: [OperationDescription.Parameter], isOpen: Bool = true) -> Self {
        var taken = TakenRequest(parameters: parameters, form: .form, isForBrowsers: true)
        taken.isOpenToAllOrigins = isOpen
        return Self(taken: taken) { request in
            let query = try RequestParameters(query: request.request.uri.query ?? "")
            let secrets = ["client_secret", "client_assertion", "code", "refresh_token", "access_token"]
            guard !secrets.contains(where: { query[$0] != nil })
            else {
                throw OAuthError(.invalidRequest, "A secret is in the URL")
            }
            let parameters = try RequestParameters(query: String(buffer: request.body))
            try parameters.requireSingleValues()
            return OAuthForm(
                parameters: parameters,
                credentials: ClientCredentials(
                    authorization: request.request.headers[.authorization], parameters: parameters))
        }
    }
}

extension RequestParameters {
    /// Reads a query or a form.
    init(query: String) throws {
        var values: [String: [String]] = [:]
        do {
            for (name, value) in try FormFields.pairs(of: query) {
                guard !value.utf8.contains(0) else { throw OAuthError(.invalidRequest, "A parameter holds U+0000") }
                values[name, default: []].append(value)
            }
        } catch is APIError {
            throw OAuthError(.invalidRequest, "The query or form is not well-formed")
        }
        self.init(values)
    }
}
