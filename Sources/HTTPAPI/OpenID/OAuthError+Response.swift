internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import ProviderKit

/// The body of an error of the OAuth endpoints (RFC 6749, 5.2).
struct OAuthErrorPayload: ResponsePayload {
    let error: OAuthError

    static let fields = ResponseFields<Self>("OAuthError") {
        Field("error", as: .choice(of: OAuthError.Code.self), \.error.code.rawValue)
        Field("error_description", \.error.description)
    }
}

extension [ReturnedResponse] {
    /// The errors of the OAuth endpoints, for their documentation.
    static let oauthErrors = [HTTPResponse.Status](
        [
            .badRequest, .unauthorized, .forbidden, .contentTooLarge, .unsupportedMediaType, .tooManyRequests,
            .internalServerError, .serviceUnavailable,
        ]
    ).map { status in
        var response = ReturnedResponse(
            status: status, body: OAuthErrorPayload.self, description: "An error (RFC 6749, 5.2)")
        switch status {
        case .unauthorized: response.headers["WWW-Authenticate"] = "How to authenticate."
        case .tooManyRequests, .serviceUnavailable:
            response.headers["Retry-After"] = "Seconds to wait before trying again."
        default: break
        }
        return response
    }
}

extension Response {
    /// The response to an error of an OAuth endpoint; `nil` if the path is not served at all.
    static let oauthError: ErrorWriter = { error, _, _ in
        if let error = error as? OAuthError { return oauth(error, status: error.status) }
        guard let known = APIError(any: error) else {
            return oauth(OAuthError(.serverError, "Something went wrong"), status: .internalServerError)
        }
        let code: OAuthError.Code
        switch known.code {
        case .unknownApplication, .notFound: return nil
        case .rateLimited, .overloaded: code = .temporarilyUnavailable
        case .internal: code = .serverError
        default: code = .invalidRequest
        }
        var response = oauth(OAuthError(code, known.message), status: .init(code: known.status))
        if let delay = known.retryAfter { response.headers[.retryAfter] = String(delay) }
        response.headers[.allow] = known.allowed
        return response
    }

    private static func oauth(_ error: OAuthError, status: HTTPResponse.Status) -> Response {
        var headers = HTTPFields()
        switch error.code {
        case .temporarilyUnavailable: headers[.retryAfter] = "5"
        case .invalidClient: headers[.wwwAuthenticate] = "Basic realm=\"gatehouse\""
        case .invalidToken, .insufficientScope: headers[.wwwAuthenticate] = "Bearer error=\"\(error.code.rawValue)\""
        default: break
        }
        return .json(OAuthErrorPayload(error: error), status: status, headers: headers)
    }
}

extension OAuthError {
    fileprivate var status: HTTPResponse.Status {
        switch code {
        case .invalidClient, .invalidToken: .unauthorized
        case .insufficientScope: .forbidden
        case .temporarilyUnavailable: .serviceUnavailable
        case .serverError: .internalServerError
        default: .badRequest
        }
    }
}
