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

    /// `button` is the text of the app's button if it leads to the server's own pages, and `place` is where people get
    /// back an account that is being deleted.
    init(_ error: APIError, requestID: String, button: String?, restoring place: String?) {
        (status, code, self.requestID) = (error.status, error.code, requestID)
        message = Self.message(for: error, button: button, restoring: place)
    }

    private static func message(for error: APIError, button: String?, restoring place: String?) -> String {
        switch error.code {
        // 400 is about a code or the current password, 401 about the token or the sign-in.
        case .invalidCredentials: error.status == 400 ? "Wrong password" : "Incorrect email or password"
        case .invalidToken where error.status == 400, .invalidState:
            "This sign-in is no longer valid. Please try again."
        case .invalidToken: "Invalid user token"
        case .secondProofRequired: button.map { "This account needs another step. Use “\($0)”." } ?? error.message
        case .wrongPIN: "Wrong PIN code"
        case .existingPIN: "User already has a PIN code"
        case .pinNotSet: "User does not have a PIN code"
        default: error.dialectMessage(restoring: place)
        }
    }
}
