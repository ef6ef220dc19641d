internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import Pages
internal import ProviderKit

extension ResponseShape<(answer: Logout.Response, issuer: Issuer)> {
    /// Sends the browser back to the client, or shows a page.
    static var logout: Self {
        Self(
            responses: [
                .init(
                    status: .seeOther, description: "To the client's post-logout redirect URI",
                    headers: ["Location": "The URI with state."]),
                .init(
                    description: "A page that says that the person is signed out, or asks whether to sign out",
                    contentType: "text/html"),
            ] + .clientErrors, writesError: Response.stepError
        ) { output, context in
            var response = Response.logout(output.answer, at: output.issuer, context: context)
            if case .reload(_, let hint) = output.answer {
                output.issuer.keepLogoutHint(hint, in: &response)
            } else {
                output.issuer.dropLogoutHint(of: context.request, in: &response)
            }
            return response
        }
    }
}

extension Response {
    fileprivate static func logout(_ answer: Logout.Response, at issuer: Issuer, context: OperationContext) -> Response
    {
        switch answer {
        case .redirect(let uri): return .seeOther(uri)
        case .reload(let parameters, _): return .seeOther(issuer.url(of: .logout).addingQuery(parameters))
        case .signedOut(let others): return .step(.signedOut(others: others), context: context)
        case .fault(let fault):
            return .step(
                .error(reason: fault.rawValue, url: nil), status: fault == .forged ? .forbidden : .badRequest,
                context: context)
        case .ask(let sessions, let token, let flow):
            let providers = issuer.application.providers
            let accounts = sessions.map { session in
                StepPage.Account(
                    id: session.id.text, name: session.name,
                    address: session.address ?? session.provider.map(providers.displayName(of:)), isSignedIn: true)
            }
            let application = context.scope.application
            var page = StepPage(
                .signOut(accounts), in: PageLanguage(of: context.request.request, at: application),
                of: application)
            page.formToken = token
            var response = Response.page(page.page, status: .ok)
            response.headers[.setCookie] = issuer.setCookie("browser", to: flow)
            return response
        }
    }
}
