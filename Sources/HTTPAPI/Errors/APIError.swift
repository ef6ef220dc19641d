internal import Foundation
internal import HTTPTypes
internal import Hummingbird
package import ProviderKit

/// An error as it is sent to the client.
///
/// Any error that can't be converted to this type is sent as `INTERNAL`, and its text is only logged.
package struct APIError: Error, Sendable {
    package let code: ErrorCode
    /// A text for developers of clients; contains no internal detail and no value from the request.
    package let message: String
    package var details: [String: JSONValue]?
    /// The `Retry-After` time in whole seconds, rounded up.
    package var retryAfter: Int?
    /// The methods that the path supports, for 405.
    package var allowed: String?
    /// The HTTP status; that of the code unless the error is more specific.
    let status: Int

    package init(
        _ code: ErrorCode, _ message: String, details: [String: JSONValue]? = nil, retryAfter: Duration? = nil,
        allowed: String? = nil, status: Int? = nil
    ) {
        self.code = code
        self.message = message
        self.details = details
        self.retryAfter = retryAfter.map { max(1, $0.secondsRoundedUp) }
        self.allowed = allowed
        self.status = status ?? code.status
    }

    static let nothingHere = APIError(.notFound, "There is nothing at this path")

    func response() -> Response {
        var headers = HTTPFields()
        headers[.retryAfter] = retryAfter.map(String.init)
        headers[.allow] = allowed
        if status == 401 { headers[.wwwAuthenticate] = "Bearer" }
        let body = ErrorPayload(error: self)
        return .json(body, status: .init(code: status), headers: headers)
    }
}

extension Duration {
    /// The duration in whole seconds, rounded up.
    var secondsRoundedUp: Int { Int(components.seconds) + (components.attoseconds > 0 ? 1 : 0) }
}

extension APIError: ResponsePayload {
    package static let fields = ResponseFields<Self>("ErrorContent") {
        Field("code", as: .choice(of: ErrorCode.self), \.code.rawValue)
        Field("message", \.message)
        Field("details", as: .dictionary(of: .any), ifAny: { $0.details.map(JSONValue.object) })
    }
}

/// The envelope of every error.
struct ErrorPayload: ResponsePayload {
    let error: APIError

    static let fields = ResponseFields<Self>("Error") { Field("error", \.error) }
}
