internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import Pages
internal import ProviderKit

extension ResponseShape<(answer: Authorization.Answer, issuer: Issuer)> {
    /// Sends the browser back to the client, or to a page.
    static var authorization: Self {
        Self(
            responses: [
                .init(
                    status: .seeOther, description: "To the client's redirect URI, or to a page",
                    headers: ["Location": "The redirect URI with code or error, state and iss; or a page."]),
                .init(description: "A page that posts the answer, with response_mode=form_post"),
            ] + .stepErrors,
            writesError: Response.stepError
        ) { output, context in
            let (answer, issuer) = output
            switch answer {
            case .code, .error, .failure: return .leaving(by: answer, of: issuer, context: context)
            case .reload(let uri, let client):
                let place = "\(issuer.application.issuer)/oauth/authorize"
                return Response(
                    status: .seeOther,
                    headers: [
                        .location: "\(place)?client_id=\(client.formEncoded)&request_uri=\(uri.formEncoded)",
                        .cacheControl: "no-store",
                    ])
            case .fault(let fault):
                return .step(.error(reason: fault.rawValue, url: nil), status: .badRequest, context: context)
            case .page(_, let request, let browser):
                var response = Response(
                    status: .seeOther,
                    headers: [.location: "\(issuer.application.issuer)/signin/\(request)", .cacheControl: "no-store"])
                response.headers[.setCookie] = issuer.setCookie("browser", to: browser)
                return response
            }
        }
    }
}

extension Issuer {
    /// A cookie for the issuer's host, until the browser closes unless it has a lifetime.
    func setCookie(_ purpose: String, to value: String, for lifetime: Duration? = nil) -> String {
        let age = lifetime.map { "; Max-Age=\($0.components.seconds)" } ?? ""
        return "\(cookie(purpose))=\(value); Path=/; \(isSecure ? "Secure; " : "")HttpOnly; SameSite=Lax\(age)"
    }
}

extension Response {
    /// The answer of an authorization request that has ended (RFC 6749, 4.1.2), with `iss` (RFC 9207).
    ///
    /// After a form of a page (`fromPage`) a redirect would be held to the page's `form-action`, so that a page leads to
    /// the web client; apps on devices are opened by redirects only.
    static func leaving(
        by answer: Authorization.Answer, of issuer: Issuer, client: OAuthClient? = nil, fromPage: Bool = false,
        context: OperationContext
    ) -> Response {
        var parameters = ["iss": issuer.application.issuer]
        let address: ReturnAddress
        switch answer {
        case .code(let code, let returned): (parameters["code"], address) = (code, returned)
        case .error(let error, let returned), .failure(_, let error, let returned):
            (parameters["error"], parameters["error_description"]) = (error.code.rawValue, error.description)
            address = returned
        case .page, .reload, .fault:
            return .step(.error(reason: "other", url: nil), status: .badRequest, context: context)
        }
        parameters["state"] = address.state
        let sorted = parameters.sorted { $0.key < $1.key }
        if address.mode == .formPost {
            return .step(
                .formPost(sorted.map { ($0.key, $0.value) }, url: address.redirectURI), context: context)
        }
        let query = sorted.map { "\($0.key)=\($0.value.formEncoded)" }.joined(separator: "&")
        let url = "\(address.redirectURI)\(address.redirectURI.contains("?") ? "&" : "?")\(query)"
        // The grammar of `form-action` has no IPv6 addresses.
        let isAllowed = client?.isNative(redirectingTo: address.redirectURI) != false && !url.hasPrefix("http://[")
        if fromPage, !isAllowed {
            return .step(.return(url: url), context: context)
        }
        return Response(
            status: .seeOther,
            headers: [.location: url, .cacheControl: "no-store", .referrerPolicy: "no-referrer"])
    }
}

extension String {
    /// The text percent-encoded for a query; all characters but the unreserved ones (RFC 3986, 2.3).
    var formEncoded: String {
        utf8.reduce(into: "") { text, byte in
            if byte.isASCIILetterOrDigit || "-._~".utf8.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }
}
