internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import Pages
internal import ProviderKit

extension ReturnedResponse {
    static let page = ReturnedResponse(description: "A page", contentType: "text/html")
}

extension [OperationDescription.Parameter] {
    /// The fields of every form of a page.
    static let ofPages: Self = [
        .init("csrf", required: true, help: "The form's token, which the page contains."),
        .init("action", required: true, help: "The value of the button that was pressed."),
    ]
}

extension [ReturnedResponse] {
    /// The errors of routes that people see, for their documentation.
    static let stepErrors = [HTTPResponse.Status](
        [
            .badRequest, .forbidden, .contentTooLarge, .unsupportedMediaType, .tooManyRequests, .internalServerError,
            .serviceUnavailable,
        ]
    ).map { ReturnedResponse(status: $0, description: "A page that says why", contentType: "text/html") }

    /// The same for routes of the application that other servers send browsers to.
    static let browserErrors =
        stepErrors + [.init(status: .notFound, description: "A page that says why", contentType: "text/html")]

    /// The same for routes to which clients send browsers, with long parameters in the URL.
    static let clientErrors =
        stepErrors + [
            .init(
                status: .uriTooLong, description: "A page that says that the URL is too long",
                contentType: "text/html")
        ]
}

extension Response {
    /// A page of a sign-in in the person's language.
    static func step(
        _ step: StepPage.Step, status: HTTPResponse.Status = .ok, context: OperationContext
    ) -> Response {
        .step(step, status: status, to: context.request.request, of: context.scope.application)
    }

    /// The same for a request that no operation has taken.
    static func step(
        _ step: StepPage.Step, status: HTTPResponse.Status, to request: Request, of application: ServedApplication?
    ) -> Response {
        let language = PageLanguage(of: request, at: application)
        return .page(StepPage(step, in: language, of: application).page, status: status)
    }

    /// A page with what was refused, and the status of that; `provider` is the name of the one that it is about.
    static func step(_ page: StepPage, problem: APIError?, of provider: String? = nil) -> Response {
        var page = page
        if let problem { page.problem = StepPage.Problem(problem) }
        page.problem?.provider = provider
        var response = Response.page(page.page, status: problem?.pageStatus ?? .ok)
        response.headers[.retryAfter] = problem?.retryAfter.map(String.init)
        return response
    }

    /// The page of an error at a route that people see; `nil` if the application has no such route.
    static let stepError: ErrorWriter = { error, request, context in
        let known = APIError(any: error)
        let reason: String
        switch known?.code {
        case .notFound?, .unknownApplication?: return nil
        case .rateLimited?: reason = "rate_limited"
        case .overloaded?, .providerUnavailable?: reason = "overloaded"
        case .invalidState?: reason = "not_your_request"
        case .some(let code) where code != .internal: reason = "invalid_request"
        case .some, nil: reason = "server_error"
        }
        var response = Response.step(
            .error(reason: reason, url: nil), status: .init(code: known?.status ?? 500), to: request,
            of: context.scope?.application)
        response.headers[.retryAfter] = known?.retryAfter.map(String.init)
        response.headers[.allow] = known?.allowed
        return response
    }

    /// The page of an error at a route that the application always has, where a page also says that nothing was found.
    static let browserError: ErrorWriter = { error, request, context in
        stepError(error, request, context)
            ?? .step(
                .error(reason: "not_found", url: nil), status: .notFound, to: request, of: context.scope?.application)
    }

    /// Sends the browser to a URL by GET, without a `Referer`.
    static func seeOther(_ url: String) -> Response {
        Response(
            status: .seeOther, headers: [.location: url, .cacheControl: "no-store", .referrerPolicy: "no-referrer"])
    }
}

extension StepPage {
    /// A page with what the application's configuration says about its pages.
    init(_ step: Step, in language: PageLanguage, of application: ServedApplication?) {
        let settings = application?.openID?.settings.pages
        self.init(step, in: language, of: settings?.name ?? application?.application.name ?? "")
        logo = settings?.logo.map { _ in "\(application?.application.issuer ?? "")\(StepRoutes.logo)" }
        (accent, darkAccent) = (settings?.accent?.text, settings?.darkAccent?.text)
        links = Links(privacy: settings?.privacy, terms: settings?.terms, support: settings?.support)
    }
}

extension StepPage.Problem {
    /// The error as the problem of a form.
    init(_ error: APIError) {
        self.init(
            code: error.code.rawValue, rule: error.details?["rule"]?.string,
            reasons: error.details?["reasons"]?.array?.compactMap(\.string) ?? [], retryAfter: error.retryAfter)
    }
}

extension PageLanguage {
    /// The first of these that there is: the language of this link of a page, `ui_locales` of this URL, the language of
    /// an earlier link, `ui_locales` of the client's request, the account's, the browser's, the application's.
    ///
    /// A request with `ui_locales` begins without the language of an earlier link.
    init(
        of request: Request, client: [String] = [], account: String? = nil, at application: ServedApplication?
    ) {
        let query = try? FormFields(request.uri.query ?? "")
        let asked = query?["ui_locales"]?.split(separator: " ").map(String.init) ?? []
        let earlier = application?.openID?.chosenLanguage(of: request)
        let own = application?.openID?.settings.pages.language
        self.init(
            preferences: [query?["lang"]] + asked + [earlier] + client
                + [account, request.headers[.acceptLanguage], own])
    }
}
