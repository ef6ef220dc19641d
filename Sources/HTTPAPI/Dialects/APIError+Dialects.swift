internal import Hummingbird
internal import ProviderKit

extension APIError {
    /// The text that apps of dialects show to people.
    var dialectMessage: String {
        switch code {
        case .unverifiedIdentity: "Confirm your address first: a mail is on its way."
        case .tooWeakPassword:
            [message, details?["reasons"]?.array?.first?.string].compactMap(\.self).joined(separator: ": ")
        case .accountDeleted:
            // The token that restores the account is left out.
            [message, details?["purgeAfter"]?.string.map { "It can be restored until \($0)." }].compactMap(\.self)
                .joined(separator: " ")
        case .tokenTooOld: "Sign in again to do this."
        case .identityTemporarilyLocked, .rateLimited: "Too many tries. Please wait a moment."
        case .providerDisabled, .unsupportedProvider: "This way of signing in is switched off."
        case .overloaded, .providerUnavailable: "The server is busy. Please try again."
        default: message
        }
    }

    /// The error with a body in a dialect's form, and the header fields of the API's own.
    func response(_ body: some ResponsePayload, status: Int) -> Response {
        var headers = response().headers
        headers[.contentLength] = nil
        headers[.contentType] = nil
        if status != 401 { headers[.wwwAuthenticate] = nil }
        return .json(body, status: .init(code: status), headers: headers)
    }
}
