package import Accounts
package import ProviderKit

extension RequestSteps {
    /// What a browser brings to a page.
    package struct Context: Sendable {
        /// The request's id, which the URL contains.
        package let request: String
        package var browser: Authorization.Browser
        package let client: Client
        package let issuer: Issuer
        /// The page that a link of another page leads to, by its name.
        let linked: ShownStep.Name?
        /// What providers may use of the HTTP request.
        let origin: RequestOrigin
        /// Records a refused proof in the audit, with the provider of a proof from its pages or of a link, and with the
        /// account that is signed in or joined.
        let recordRefusal: @Sendable (any Error, _ provider: String?, BrowserAccount?) async -> Void
        /// The form that the browser has sent, with its action; a repetition of the form has the same.
        var form: String?

        package init(
            request: String, linked: String?, browser: Authorization.Browser, client: Client, issuer: Issuer,
            origin: RequestOrigin = RequestOrigin(peer: nil),
            recordRefusal: @escaping @Sendable (any Error, String?, BrowserAccount?) async -> Void = { _, _, _ in }
        ) {
            (self.origin, self.recordRefusal) = (origin, recordRefusal)
            (self.request, self.browser, self.client, self.issuer) = (request, browser, client, issuer)
            self.linked = linked.flatMap { ShownStep.Name(bytesOf: $0) }
        }
    }
}
