internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

/// The interface of the time tracking apps: signing in by a redirect flow in which the app has no proof key.
///
/// The app opens `/auth/login` in a browser, which returns to the app's redirect URI with `code` and `state`. It
/// exchanges both for a token at `/auth/token`. It signs people out at any 401, so `/auth/token` never answers that.
enum TimeTracker: Dialect {
    static let name = "timetracker"
    static let bases = ["/auth/"]
    static let credentials = [CredentialSource.authorization]
    static let requestFields: [HTTPField.Name] = []
    static let writesError = TimeTrackerCall.other.writesError
    static let errorSchema = TimeTrackerError.schema

    static func renewal(in settings: DialectSettings) -> Renewal? { settings.timeTracker?.renewal }

    static func endpoints(_ operations: Operations) -> [Endpoint] {
        [
            operations.providers.beginSignIn.at(
                .get, below: "", "/auth/login", "Sends a person to the provider's pages", takes: login,
                returns: .login, answersHEAD: false
            ).spoken(in: self),
            operations.providers.redeemCode.at(
                .post, below: "", "/auth/token", "Opens a session with the code that the redirect ended with",
                takes: .json(TimeTrackerCode.self) { code, _ in try code.body },
                returns: .timeTracker(.token, TimeTrackerSession.init)
            ).spoken(in: self),
            operations.accounts.showWithProfile.at(
                .get, below: "", "/auth/me", "The account that is signed in", takes: .nothing,
                returns: .timeTracker(.me) { TimeTrackerUser(user: $0.user, profile: $0.profile) }
            ).spoken(in: self),
            operations.sessions.logoutHere.at(
                .post, below: "", "/auth/logout", "Ends the session", takes: .nothing,
                returns: .timeTracker(.logout) { _ in TimeTrackerFarewell() }
            ).spoken(in: self),
        ]
    }

    private static var login: RequestShape<ProviderOperations.Start> {
        .browser(
            .get,
            [
                .init(
                    "redirect_uri", required: true, help: "Where the flow ends; a URI registered without PKCE.",
                    schema: .filledText),
                .init("state", help: "Returned unchanged; generated if absent."),
            ]
        ) { request in
            guard let settings = request.context.scope?.application.dialects.timeTracker else {
                throw APIError.nothingHere
            }
            let query = try request.query
            let uri = query["redirect_uri"]
            if let uri, let only = settings.redirectURI, !only.hasSameBytes(as: uri) {
                throw AccountsError.redirectNotAllowed
            }
            let authorization = AuthorizationRequest(
                redirectURI: uri, codeChallenge: nil, codeChallengeMethod: nil, state: query["state"],
                isBrowserDriven: true)
            return (settings.provider, authorization)
        }
    }
}

extension ResponseShape<AuthorizationRedirect> {
    /// Redirects the browser to the provider; every error is a page.
    fileprivate static var login: Self {
        Self(
            responses: [
                .init(
                    status: .found, description: "To the provider",
                    headers: ["Location": "The provider's page.", "Set-Cookie": "Ties the flow to this browser."])
            ] + .stepErrors, writesError: Response.timeTrackerPage
        ) { redirect, context in
            .redirect(to: redirect.url, cookie: redirect.cookie, age: FlowCookie.age, in: context)
        }
    }
}
