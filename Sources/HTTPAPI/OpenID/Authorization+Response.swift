internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import Pages
internal import ProviderKit

extension ResponseShape<OAuthOperations.Authorized> {
    /// Sends the browser back to the client, or to a page.
    static var authorization: Self {
        Self(
            responses: [
                .init(
                    status: .seeOther, description: "To the client's redirect URI, or to a page",
                    headers: ["Location": "The redirect URI with code or error, state and iss; or a page."]),
                .init(
                    description: "A page that posts the answer, with response_mode=form_post",
                    contentType: "text/html"),
            ] + .clientErrors,
            writesError: Response.stepError
        ) { output, context in
            let (answer, issuer, arrival) = output
            return Response.authorization(answer, at: issuer, context: context).setting(arrival, of: issuer)
        }
    }
}

extension Response {
    fileprivate static func authorization(
        _ answer: Authorization.Response, at issuer: Issuer, context: OperationContext
    ) -> Response {
        switch answer {
        case .code, .error, .failure: return .leaving(by: answer, of: issuer, context: context)
        case .reload(let uri, let client):
            let url = issuer.url(of: .authorization)
            return .seeOther(url.addingQuery(["client_id": client, "request_uri": uri]))
        case .fault(let fault):
            return .step(.error(reason: fault.rawValue, url: nil), status: .badRequest, context: context)
        case .page(let request, let provider, let browser, let namesLanguages):
            var response = Response.beginning(
                request + (provider.map { "/with/\($0)" } ?? ""), in: browser, at: issuer)
            if namesLanguages { issuer.dropLanguage(in: &response) }
            return response
        }
    }

    /// Sends the browser to the page of a request with the flow cookie, and with a query that chooses the language.
    static func beginning(_ request: String, in flow: String, at issuer: Issuer, query: String? = nil) -> Response {
        var response = Response.seeOther(issuer.page(of: request, query: query))
        response.headers[.setCookie] = issuer.setCookie("browser", to: flow)
        return response
    }

    /// The answer of an authorization request that has ended (RFC 6749, 4.1.2), with `iss` (RFC 9207).
    ///
    /// After a page's form, `form-action` of the page also restricts redirects. A web client is therefore reached by a
    /// page with a link (`fromPage`), and an app on a device by a redirect, the only way to open it.
    static func leaving(
        by answer: Authorization.Response, of issuer: Issuer, client: OAuthClient? = nil, fromPage: Bool = false,
        context: OperationContext
    ) -> Response {
        var (code, error): (String?, OAuthError?)
        let address: ReturnAddress
        switch answer {
        case .code(let issued, let returned): (code, address) = (issued, returned)
        case .error(let refusal, let returned), .failure(_, let refusal, let returned):
            (error, address) = (refusal, returned)
        case .page, .reload, .fault:
            return .step(.error(reason: "other", url: nil), status: .badRequest, context: context)
        }
        let parameters: KeyValuePairs<String, String?> = [
            "code": code, "error": error?.code.rawValue, "error_description": error?.description,
            "iss": issuer.url, "state": address.state,
        ]
        if address.mode == .formPost {
            let fields = parameters.compactMap { name, value in value.map { (name: name, value: $0) } }
            return .step(.formPost(fields, url: address.redirectURI), context: context)
        }
        let url = address.redirectURI.addingQuery(parameters)
        // The grammar of `form-action` has no IPv6 addresses.
        let isAllowed = client?.isNative(redirectingTo: address.redirectURI) != false && !url.hasPrefix("http://[")
        if fromPage, !isAllowed {
            return .step(.return(url: url), context: context)
        }
        return .seeOther(url)
    }
}
