internal import Accounts
internal import ProviderKit

/// The actions of some of the pages of a request.
protocol StepActions: Sendable {
    /// Carries out the action of a form, or returns `nil` if the form's step has no such action.
    func perform(_ form: StepForm, on state: RequestState, _ context: RequestSteps.Context) async throws -> StepOutcome?
}

/// A form that a person has sent at the present step of a request.
struct StepForm: Sendable {
    let step: ShownStep.Name
    let action: StepAction
    /// The hidden field of the form, which differs each time that the page is shown.
    let token: String
}

/// What an action has led to.
enum StepOutcome: Sendable {
    /// The request goes on with this progress.
    case progressed(RequestState)
    /// A session of the browser was opened or proven, and all are kept under a new cookie.
    case proven(SignedIn, under: OpaqueToken)
    /// A session of the browser was opened by another device, and nothing was proven in it.
    case borrowed(SignedIn, under: OpaqueToken)
    /// A session was opened or proven, after an identity was linked, or after a conflict ended.
    case linked(SignedIn, under: OpaqueToken)
    /// The account has changed, so the request goes on with this progress after it was read again.
    case changed(RequestState)
    /// The browser gets this page, and the request stays as it is.
    case page(ShownStep.Name)
    /// The request ends with this error.
    case refused(OAuthError)
    /// The request has ended in the same way as the answer; `nil` if another call has ended it.
    case ended(RequestEnding?)
    /// The request has ended without an answer, because the person has typed too many wrong codes.
    case givenUp
}

extension RateLimiting {
    /// Counts a form toward the limit of the REST route that does the same.
    func spend(asCallOf route: String, _ context: RequestSteps.Context) async throws {
        try await spend(asCallOf: route, by: context.client, in: context.issuer.application)
    }

    /// Counts a form toward the limit of the REST route that does the same: `Endpoint.route`, method and path.
    func spend(asCallOf route: String, by client: Client, in application: Application) async throws {
        try await spend(.general, of: RateSubject(client, route: route), in: application)
    }
}

extension Error {
    /// Whether a person who has sent a form can do something about the error, so that the form is shown with it.
    var isForPerson: Bool {
        switch self {
        case let error as AccountsError: if case .unreadableSecret = error { false } else { true }
        case let error as ProviderError: if case .unavailable = error { false } else { true }
        default: false
        }
    }
}
