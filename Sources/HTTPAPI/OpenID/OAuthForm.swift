internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import ProviderKit

/// What a client has sent to an OAuth endpoint; the operation reads it, so that faults of the form count as failures.
struct OAuthForm: Sendable {
    private static let secrets = [
        "client_secret", "client_assertion", "code", "device_code", "refresh_token", "access_token",
    ]

    /// The parameters of the form, of which only `resource` may be repeated.
    ///
    /// Secrets in the URL are refused, because URLs are logged.
    let parameters: Result<RequestParameters, any Error>
    /// The value of `Authorization`, if there is one.
    let authorization: String?

    init(_ request: IncomingRequest) {
        authorization = request.request.headers[.authorization]
        parameters = Result {
            let query = try RequestParameters(query: request.request.uri.query ?? "")
            guard Self.secrets.allSatisfy({ query.all($0).isEmpty }) else {
                throw OAuthError(.invalidRequest, "A secret is in the URL")
            }
            let parameters = try RequestParameters(query: request.form)
            try parameters.check()
            return parameters
        }
    }
}

extension RequestShape<OAuthForm> {
    static func oauth(
        _ parameters: [OperationDescription.Parameter] = [], for callers: OriginRule.Callers = .all,
        hasBody: Bool = true, servedBy isServed: @escaping @Sendable (Issuer) -> Bool = { _ in true }
    ) -> Self {
        var taken = TakenRequest(parameters: parameters, form: hasBody ? .form : nil, isForBrowsers: true)
        (taken.isOfOpenID, taken.isServed, taken.origins) = (true, isServed, callers)
        return Self(taken: taken, read: OAuthForm.init)
    }
}

extension RequestParameters {
    /// Reads a query or a form.
    /// - Throws: `OAuthError` if it is not well-formed, or not UTF-8.
    init(query: @autoclosure () throws -> String) throws {
        var values: [String: [String]] = [:]
        do {
            for (name, value) in try FormFields.pairs(of: query()) {
                values[name, default: []].append(value)
            }
        } catch is APIError {
            throw OAuthError(.invalidRequest, "The query or form is not well-formed")
        }
        self.init(values)
    }
}
