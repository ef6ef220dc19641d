/// Where a browser goes to begin a flow.
package struct AuthorizationRedirect: Sendable {
    package let url, state: String
    package let cookie: FlowCookie?
    /// Whether the response redirects the browser; otherwise the app opens the URL.
    package let isForBrowser: Bool

    package init(url: String, state: String, isForBrowser: Bool, cookie: FlowCookie? = nil) {
        (self.url, self.state, self.isForBrowser, self.cookie) = (url, state, isForBrowser, cookie)
    }
}

/// Where a browser goes when a provider has sent it back.
package struct AuthorizationCallback: Sendable {
    package enum Destination: Sendable {
        /// The app's redirect URI with a code or an error.
        case app(String)
        case page(PageReturn)
        /// The page of the console that shows a trial of the provider, with a code.
        case trial(provider: String, code: String)
    }

    package let destination: Destination
    /// The flow's cookie, which the response deletes.
    package let expired: FlowCookie?
    /// The error because of which there is no code, for the log.
    package let failure: (any Error)?

    init(_ destination: Destination, expired: FlowCookie?, failure: (any Error)? = nil) {
        (self.destination, self.expired, self.failure) = (destination, expired, failure)
    }
}

/// How a person comes back from a provider to a page of the server's own.
package struct PageReturn: Sendable {
    /// The id of the authorization request, and the provider's name.
    package let request, provider: String
    /// The code that redeems the evidence, and the `state` that goes along with it.
    package let code, state: String?
    /// The error of a flow that has no code (RFC 6749, 4.1.2.1).
    package let error: String?

    init(
        to request: String, from provider: String, code: OpaqueToken? = nil, state: String? = nil, error: String? = nil
    ) {
        (self.request, self.provider, self.code) = (request, provider, code?.text)
        (self.state, self.error) = (state, error)
    }
}
