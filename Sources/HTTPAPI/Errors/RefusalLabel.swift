internal import Accounts
internal import OpenID
internal import ProviderKit

extension Statistics {
    /// Counts a call that was refused, under the rule that refused it or else under its error code.
    ///
    /// Requests that are malformed or lead nowhere say nothing about the people who sign in, and are not counted.
    func count(refusal error: any Error, in application: Application.ID) {
        guard let label = Self.label(ofRefusal: error) else { return }
        count(.refusals, label: label, in: application)
    }

    static func label(ofRefusal error: any Error) -> String? {
        if let error = error as? OAuthError { return error.code.rawValue }
        guard let error = APIError(any: error), error.code.isRefusal else { return nil }
        return error.details?["rule"]?.string ?? error.code.rawValue
    }
}

extension ErrorCode {
    fileprivate var isRefusal: Bool {
        switch status {
        case 401, 403, 409, 410, 429, 503: true
        default: [.invalidState, .wrongPIN, .tooWeakPassword].contains(self)
        }
    }
}
