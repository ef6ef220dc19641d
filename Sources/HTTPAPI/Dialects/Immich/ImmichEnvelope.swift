internal import Accounts
internal import HTTPTypes
internal import ProviderKit

/// A refusal in the words that apps of Immich show.
struct ImmichEnvelope: ResponsePayload {
    let message: String
    let status: Int
    let requestID: String
    let code: ErrorCode

    static let fields = ResponseFields<Self>("ImmichError") {
        Field("message", \.message)
        Field("error", \.reason)
        Field("statusCode", \.status)
        Field("correlationId", \.requestID)
        Field("code", as: .choice(of: ErrorCode.self), \.code.rawValue)
    }

    /// The words of the status (RFC 9110, 15), which a status made of a number does not have.
    private var reason: String {
        let known: [HTTPResponse.Status] = [
            .badRequest, .unauthorized, .forbidden, .notFound, .methodNotAllowed, .conflict, .contentTooLarge,
            .uriTooLong, .unsupportedMediaType, .tooManyRequests, .internalServerError, .serviceUnavailable,
        ]
        return known.first { $0.code == status }?.reasonPhrase ?? ""
    }

    /// The refusal of a way of signing in that the application does not offer to apps.
    static let isOff = APIError(.providerDisabled, "This way of signing in is switched off")

    /// Words an error for the app, whose button has the text `button`, which is empty or `nil` if it has none.
    ///
    /// With `opensOwnPages`, the button leads to the server's own pages. `place` is where people get back an account that
    /// is being deleted.
    init(_ error: APIError, requestID: String, button: String?, opensOwnPages: Bool, restoring place: String?) {
        (status, code, self.requestID) = (error.status, error.code, requestID)
        let button = button.flatMap { $0.isEmpty ? nil : "“\($0)”" }
        message = Self.message(for: error, button: button, opensOwnPages: opensOwnPages, restoring: place)
    }

    private static func message(
        for error: APIError, button: String?, opensOwnPages: Bool, restoring place: String?
    ) -> String {
        switch error.code {
        // 400 is about a code or the current password, 401 about the token or the sign-in.
        case .invalidCredentials: error.status == 400 ? "Wrong password" : "Incorrect email or password"
        case .invalidToken where error.status == 400, .invalidState:
            "This sign-in is no longer valid. Please try again."
        case .invalidToken: "Invalid user token"
        case .secondProofRequired where opensOwnPages:
            button.map { "This account needs another step. Use \($0)." } ?? error.message
        // Calls of the dialect look for no other identity than the one with the password.
        case .identityNotFound:
            ["This account has no password.", button.map { "Sign in with \($0)." }].compactMap(\.self)
                .joined(separator: " ")
        case .wrongPIN: "Wrong PIN code"
        case .existingPIN: "User already has a PIN code"
        case .pinNotSet: "User does not have a PIN code"
        default: error.dialectMessage(restoring: place)
        }
    }
}
