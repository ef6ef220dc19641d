internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
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
            ],
            errorPage: { error, context in
                // An application that is no OpenID provider does not have this path.
                if let known = APIError(any: error), known.code == .notFound { return known.response() }
                return .errorPage(error, in: context) { _ in .authorizationFault("server_error") }
            }
        ) { output, _ in
            let (answer, issuer) = output
            switch answer {
            case .code(let code, let address):
                return .authorizationResponse(["code": code], to: address, issuer: issuer)
            case .error(let error, let address):
                let parameters = ["error": error.code.rawValue, "error_description": error.description]
                return .authorizationResponse(parameters, to: address, issuer: issuer)
            case .reload(let uri, let client):
                let place = "\(issuer.application.issuer)/oauth/authorize"
                return Response(
                    status: .seeOther,
                    headers: [
                        .location: "\(place)?client_id=\(client.formEncoded)&request_uri=\(uri.formEncoded)",
                        .cacheControl: "no-store",
                    ])
            case .fault(let fault): return .page(.authorizationFault(fault.rawValue), status: .badRequest)
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
    /// A cookie for the issuer's host until the browser closes.
    func setCookie(_ purpose: String, to value: String) -> String {
        "\(cookie(purpose))=\(value); Path=/; \(isSecure ? "Secure; " : "")HttpOnly; SameSite=Lax"
    }
}

extension Response {
    /// The answer of the authorization endpoint (RFC 6749, 4.1.2), with `iss` (RFC 9207).
    fileprivate static func authorizationResponse(
        _ parameters: [String: String], to address: ReturnAddress, issuer: Issuer
    ) -> Response {
        var parameters = parameters
        parameters["state"] = address.state
        parameters["iss"] = issuer.application.issuer
        let sorted = parameters.sorted { $0.key < $1.key }
        switch address.mode {
        case .formPost: return .page(.formPost(sorted.map { ($0.key, $0.value) }, to: address.redirectURI))
        case .query:
            let query = sorted.map { "\($0.key)=\($0.value.formEncoded)" }.joined(separator: "&")
            let mark = address.redirectURI.contains("?") ? "&" : "?"
            return Response(
                status: .seeOther,
                headers: [
                    .location: "\(address.redirectURI)\(mark)\(query)", .cacheControl: "no-store",
                    .referrerPolicy: "no-referrer",
                ])
        }
    }
}

extension String {
    /// The text percent-encoded for a query; all characters but the unreserved ones (RFC 3986, 2.3).
    fileprivate var formEncoded: String {
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
