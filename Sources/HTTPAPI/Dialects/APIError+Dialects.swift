internal import Accounts
internal import Hummingbird
internal import OpenID
internal import ProviderKit

extension APIError {
    /// The text that apps of dialects show to people; `place` is where they get back an account that is being deleted,
    /// as in "at https://photos.example/signin".
    func dialectMessage(restoring place: String?) -> String {
        switch code {
        case .unverifiedIdentity: "Confirm your address first: a mail is on its way."
        case .tooWeakPassword:
            [message, details?["reasons"]?.array?.first?.string].compactMap(\.self).joined(separator: ": ")
        case .accountDeleted:
            // The token that restores the account is left out.
            [message, details?["purgeAfter"]?.string.map { restoration(until: $0, place: place) }].compactMap(\.self)
                .joined(separator: ". ")
        case .tokenTooOld: "Sign in again to do this."
        case .identityTemporarilyLocked, .rateLimited: "Too many tries. Please wait a moment."
        // A provider that is on may refuse a person by another rule, for example because it opens no new accounts.
        case .providerDisabled where details?["rule"]?.string.map { $0 != LinkingRule.providerOff.rawValue } == true:
            message
        case .providerDisabled, .unsupportedProvider: "This way of signing in is switched off."
        case .overloaded, .providerUnavailable: "The server is busy. Please try again."
        default: message
        }
    }

    private func restoration(until end: String, place: String?) -> String {
        ["It can be restored until \(end)", place].compactMap(\.self).joined(separator: " ") + "."
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

extension ServedApplication {
    /// Where the people of a dialect's apps get back an account that is being deleted: in the app if it opens the
    /// application's own pages, otherwise at the address of those pages; `nil` if there are no pages.
    ///
    /// `button` is the text of the app's button that opens the pages, if the app has one.
    func restorePlace(in dialect: any Dialect.Type, button: String? = nil) -> String? {
        if dialects.usesOwnPages(in: dialect.name) { return button.map { "with “\($0)”" } ?? "by signing in again" }
        return openID.map { "at \($0.application.issuer)/signin" }
    }
}
