internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import OpenID
internal import Pages
internal import ProviderKit

/// The first page of an application with an OpenID provider: the account, or under `gatehouse dev` a page that shows
/// what runs.
struct StartRoutes {
    /// `nil` unless this is `gatehouse dev`.
    let development: StartOperations?

    var endpoints: [Endpoint] {
        guard let development else {
            return [
                .open(
                    "/", "Sends a browser to the account pages", takes: TakenRequest(isOfOpenID: true),
                    returns: [.init(status: .seeOther, description: "To the account pages")]
                ) { context in
                    try context.requireBrowser()
                    return .seeOther(context.application.issuer + AccountSection.overview.path)
                }
            ]
        }
        return [
            development.show.at(
                .get, below: "", "/", "Shows what runs", takes: .issuer(.get) { _ in () },
                returns: ResponseShape(responses: [.init(description: "A page")]) { start, context in
                    var response = Response.page(.start(start, of: context.scope.application), status: .ok)
                    response.headers[.setCookie] = start.issuer.setCookie("browser", to: start.flow)
                    return response
                }),
            development.enter.at(
                .post, below: "", "/", "Signs the browser in as a guest", takes: .issuer(.post) { try $0.fields() },
                returns: .step),
        ]
    }
}

/// The operations of the start page of `gatehouse dev`, whose issuer, and therefore its pages, are on loopback.
struct StartOperations: Sendable {
    typealias Start = (issuer: Issuer, flow: String, formToken: String?)
    typealias GuestSignIn = @Sendable (Client, OperationContext) async throws -> SignedIn

    let guests: GuestSignIns
    /// `nil` if no provider of guests is installed.
    let signIn: GuestSignIn?

    var show: Operation<Void, Start> {
        Operation("start.show", limits: .local) { context, _ in
            try context.requireBrowser()
            let issuer = try context.issuer
            let (flow, token) = guests.form(in: issuer.browser(of: context.request))
            return (issuer, flow, signIn == nil ? nil : token)
        }
    }

    var enter: Operation<FormFields, StepOperations.Output> {
        Operation("start.enter", limits: .client(.anonymous)) { context, form in
            let issuer = try context.issuer
            guard let signIn, context.request.isFromPage(of: issuer), form.action == "guest" else {
                return (.fault(.forged), "", issuer)
            }
            let (answer, request) = try await guests.enter(
                formToken: form["csrf"] ?? "", in: issuer.browser(of: context.request), from: context.client,
                at: issuer
            ) { client in try await signIn(client, context) }
            return (answer, request, issuer)
        }
    }
}

extension OperationContext {
    /// - Throws: 404 for a client that is no browser.
    fileprivate func requireBrowser() throws {
        guard request.request.takesPages else { throw APIError.nothingHere }
    }
}
