package import Accounts
internal import ProviderKit

/// Signs a browser in as a new guest, from the start page of `gatehouse dev`.
package struct GuestSignIns: Sendable {
    let authorization: Authorization
    let steps: RequestSteps
    let opaque: any OpaqueTokens

    /// The flow cookie of the browser, and the hidden field of the form.
    package func form(in browser: Authorization.Browser) -> (flow: String, token: String) {
        let flow = browser.flow.flatMap(opaque.parse) ?? opaque.make()
        return (flow.text, form(of: flow).text(showing: ""))
    }

    /// Opens a session of the browser by a request that ends at the account pages.
    package func enter(
        formToken: String, in browser: Authorization.Browser, from client: Client, at issuer: Issuer,
        by signIn: (Client) async throws -> SignedIn
    ) async throws -> (answer: StepResponse, request: String) {
        guard let flow = browser.flow.flatMap(opaque.parse), form(of: flow).isValid(formToken) else {
            return (.fault(.forged), "")
        }
        let request = ClientRequest(endingAt: .overview, of: issuer)
        let (id, _) = try await authorization.begin(request, in: browser, at: issuer)
        let context = RequestSteps.Context(request: id, linked: nil, browser: browser, client: client, issuer: issuer)
        let cookie = opaque.make()
        let signedIn = try await signIn(steps.proofs.client(under: cookie, remember: false, context))
        return (try await steps.proceed(context, as: signedIn, under: cookie), id)
    }

    private func form(of flow: OpaqueToken) -> FormToken { FormToken(opaque: opaque, flow: flow, path: "/") }
}
