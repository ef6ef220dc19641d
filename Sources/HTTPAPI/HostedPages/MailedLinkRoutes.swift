internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import Pages
internal import ProviderKit

/// The pages of mailed links, unless an application has pages of its own.
struct MailedLinkRoutes {
    let operations: MailedLinkOperations

    var endpoints: [Endpoint] {
        MailedLinks.Purpose.allCases.flatMap { purpose in
            [
                operations.show(purpose).at(
                    .get, below: "", purpose.path, "Shows what a mailed link is for; changes nothing",
                    takes: .ownPage(.get, [.init("token", help: "The token of the link.")]) {
                        try $0.fields()["token"]
                    }, returns: .mailedLink(purpose)),
                operations.submit(purpose).at(
                    .post, below: "", purpose.path, "Uses a mailed link",
                    takes: .ownPage(.post, purpose.fields) { try FormFields($0.form, repeating: ["keep", "remove"]) },
                    returns: .mailedLink(purpose)),
            ]
        }
    }
}

extension MailedLinks.Purpose {
    fileprivate var path: String { "/\(rawValue)" }

    /// The fields of the page's form.
    fileprivate var fields: [OperationDescription.Parameter] {
        switch self {
        case .verifyEmail: .ofPages + [.init("password", help: "The password of the registration.")]
        case .resetPassword: .ofPages + [.init("password", help: "The new password.")]
        case .review:
            .ofPages + [
                .init("keep", help: "The identities that stay linked.", schema: .array(of: .string)),
                .init("remove", help: "The identities that are unlinked.", schema: .array(of: .string)),
            ]
        case .invitation:
            .ofPages + [
                .init("displayName", help: "The person's name."),
                .init("password", help: "The password of the new account."),
            ]
        case .recover: .ofPages + [.init("password", help: "The new password.")]
        }
    }
}

extension ReturnedResponse {
    /// The page without a form, with the status of the REST call.
    fileprivate static let unusableReview = Self(
        status: .unauthorized, description: "A page that says that the link is unknown or used up",
        contentType: "text/html")
}

/// The cookie that keeps the token of a mailed link, for the link's page only.
struct MailedLinkCookie {
    let name: String
    private let path: String
    private let isSecure: Bool

    init(of purpose: MailedLinks.Purpose, in scope: RequestScope) {
        let application = scope.application.application
        isSecure = application.isSecure
        name = "\(isSecure ? "__Secure-" : "")gatehouse-link-\(application.name)"
        path = scope.publicPath + purpose.path
    }

    /// Sets the cookie for ten minutes, or removes it.
    func set(to token: String?) -> HTTPField {
        let attributes = "Path=\(path); Max-Age=\(token == nil ? 0 : 600); \(isSecure ? "Secure; " : "")HttpOnly"
        return HTTPField(name: .setCookie, value: "\(name)=\(token ?? ""); \(attributes); SameSite=Lax")
    }
}

extension RequestShape {
    /// Works as `browser`; with an OpenID provider at the issuer's origin only, where its cookies are.
    fileprivate static func ownPage(
        _ method: HTTPRequest.Method, _ parameters: [OperationDescription.Parameter],
        _ read: @escaping @Sendable (IncomingRequest) throws -> Input
    ) -> Self {
        var shape = browser(method, parameters, read)
        (shape.taken.isAtIssuer, shape.taken.origins) = (true, .none)
        return shape
    }
}

extension ResponseShape<MailedLinkOperations.Output> {
    fileprivate static func mailedLink(_ purpose: MailedLinks.Purpose) -> Self {
        Self(
            responses: [
                .page, .init(status: .seeOther, description: "The page without the token, or the next page"),
            ] + .stepErrors + (purpose == .review ? [.unusableReview] : []), writesError: Response.stepError
        ) { output, context in
            let cookie = MailedLinkCookie(of: purpose, in: context.scope)
            let own = (context.scope.application.openID?.origin ?? "") + context.scope.publicPath + purpose.path
            var response: Response
            switch output {
            case .moved(let token):
                response = .seeOther(own)
                response.headers.append(cookie.set(to: token?.text))
                return response
            case .reload: return .seeOther(own)
            case .forged: return .step(.error(reason: "csrf", url: nil), status: .forbidden, context: context)
            case .page(let step, let formToken, let problem):
                let application = context.scope.application
                let language = PageLanguage(of: context.request.request, at: application)
                var page = StepPage(step, in: language, of: application)
                page.formToken = formToken
                response = .step(page, problem: problem)
                if purpose == .review, problem?.code == .invalidToken {
                    (response.status, response.headers[.wwwAuthenticate]) = (.unauthorized, "Bearer")
                }
                if formToken != nil { return response }
            case .done(let done, let next): response = .step(.done(done, next: next), context: context)
            case .proven(let answer, let request, let issuer):
                response = try ResponseShape<StepOperations.Output>.step.write((answer, request, issuer), context)
            case .asks(let request, let flow, let issuer): response = .beginning(request, in: flow, at: issuer)
            }
            // The token is of no more use.
            response.headers.append(cookie.set(to: nil))
            return response
        }
    }
}
