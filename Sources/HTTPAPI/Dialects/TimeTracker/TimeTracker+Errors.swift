internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import Pages

/// A call of the dialect, which the words of its errors depend on.
enum TimeTrackerCall: Sendable { case token, me, logout, other }

/// The body of an error.
struct TimeTrackerError: ResponsePayload {
    let message: String

    static let fields = ResponseFields<Self>("TimeTrackerError") { Field("error", \.message) }
}

extension ResponseShape {
    /// Responds with JSON, and with errors in the words of the dialect.
    static func timeTracker<Body: ResponsePayload>(
        _ call: TimeTrackerCall, _ make: @escaping @Sendable (Output) -> Body
    ) -> Self {
        Self(responses: [.init(body: Body.self)] + call.errors, writesError: call.writesError) { output, _ in
            .json(make(output))
        }
    }
}

extension TimeTrackerCall {
    /// The errors for their documentation.
    fileprivate var errors: [ReturnedResponse] {
        let statuses: [HTTPResponse.Status] =
            switch self {
            case .token:
                [
                    .badRequest, .forbidden, .conflict, .contentTooLarge, .unsupportedMediaType, .tooManyRequests,
                    .internalServerError, .serviceUnavailable,
                ]
            default:
                [
                    .badRequest, .unauthorized, .forbidden, .contentTooLarge, .tooManyRequests, .internalServerError,
                    .serviceUnavailable,
                ]
            }
        return statuses.map { ReturnedResponse(status: $0, body: TimeTrackerError.self, description: "An error") }
    }

    var writesError: ErrorWriter {
        { error, _, context in
            // The session has ended, which is what the app wants.
            if self == .logout, case AccountsError.invalidToken = error { return .json(TimeTrackerFarewell()) }
            guard let known = APIError(any: error) else {
                return .json(TimeTrackerError(message: "Something went wrong"), status: .internalServerError)
            }
            let place = context.scope?.application.restorePlace(in: TimeTracker.self)
            let text = message(of: known, restoring: place)
            return known.response(TimeTrackerError(message: text), status: status(of: known))
        }
    }

    private func status(of error: APIError) -> Int {
        guard self == .token else { return error.status }
        return switch error.code {
        // The app signs people out at any 401.
        case _ where error.status == 401: 400
        case .unsupportedProvider: 403
        default: error.status
        }
    }

    private func message(of error: APIError, restoring place: String?) -> String {
        switch (self, error.code) {
        case (.token, .missingParameter), (.token, .invalidParameter): "Missing required parameters: code, state"
        case (.token, .invalidToken), (.token, .invalidState):
            "OIDC session not found or expired. Initiate login again."
        case (_, .invalidToken): "Unauthorized"
        default: error.dialectMessage(restoring: place)
        }
    }
}

extension Response {
    /// The page of an error at `/auth/login`: 400 for a request that the app should not have made.
    static let timeTrackerPage: ErrorWriter = { error, request, context in
        guard var response = browserError(error, request, context) else { return nil }
        if case .providerDisabled? = APIError(any: error)?.code { return response }
        if (401...404).contains(response.status.code) { response.status = .badRequest }
        return response
    }
}
