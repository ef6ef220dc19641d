package import Accounts
internal import Foundation
internal import ProviderKit

/// The authorization endpoint and pushed authorization requests (RFC 9126).
package struct Authorization: Sendable {
    /// What a browser sends along with a request.
    package struct Browser: Sendable {
        /// The cookie of its sessions, and the flow cookie.
        package var sessions, flow: String?
        /// The cookie that an app has set, to sign its account in (`NativeSignIn`).
        package var nativeSecret: String?

        package init(sessions: String?, flow: String?, nativeSecret: String? = nil) {
            (self.sessions, self.flow, self.nativeSecret) = (sessions, flow, nativeSecret)
        }
    }

    package enum Response: Sendable {
        /// The request has ended with a code.
        case code(String, to: ReturnAddress)
        case error(OAuthError, to: ReturnAddress)
        /// The server has failed; `cause` is for the log.
        case failure(_ cause: any Error, OAuthError, to: ReturnAddress)
        /// The person is asked at a page, or at once at the pages of a provider; `browser` is the flow cookie's new or
        /// unchanged value, and `namesLanguages` is whether the request has `ui_locales`.
        case page(request: String, provider: String?, browser: String, namesLanguages: Bool)
        /// The browser must ask again for the stored request, with its cookies.
        case reload(requestURI: String, clientID: String)
        case fault(AuthorizationFault.PageFault)
    }

    static let codeLifetime: Duration = .seconds(60)
    private static let pushedLifetime: Duration = .seconds(60)
    /// How long an app of the REST interface may take to open the browser.
    private static let hostedLifetime: Duration = .seconds(600)
    private static let pushedPrefix = "urn:ietf:params:oauth:request_uri:"

    let store: any AuthorizationStore
    let validation: RequestValidation
    let opaque: any OpaqueTokens

    // MARK: - Pushed requests

    /// Stores a request that the client has sent itself.
    /// - Throws: `OAuthError`.
    package func push(
        _ parameters: RequestParameters, of client: OAuthClient, at issuer: Issuer
    ) async throws -> (requestURI: String, expiresIn: Int) {
        guard parameters["request_uri"] == nil else {
            throw OAuthError.invalidRequest("request_uri is not allowed here")
        }
        guard client.grants.contains(.authorizationCode) else { throw OAuthError.unauthorizedClient }
        guard parameters["client_id"]?.hasSameBytes(as: client.id) ?? true else { throw OAuthError.otherClient }
        let uri = try parameters.required("redirect_uri")
        guard client.hasRedirectURI(uri) else { throw OAuthError.otherRedirectURI }
        var address = ReturnAddress(redirectURI: uri)
        address.state = parameters["state"]
        if let mode = parameters["response_mode"].flatMap(ReturnAddress.Mode.init(bytesOf:)) { address.mode = mode }
        let request = try await validation.validate(
            parameters, of: client, to: address, isPushed: true, at: issuer)
        return (try await store(request, at: issuer), Int(Self.pushedLifetime.components.seconds))
    }

    /// Stores a request of an app that signs people in at these pages by the REST interface (`OwnClient.hosted`).
    /// - Throws: the errors of a redirect flow's parameters.
    package func begin(_ request: AuthorizationRequest, at issuer: Issuer) async throws -> AuthorizationRedirect {
        let destination = try request.destination(in: issuer.application, generatedState: opaque.make().text)
        var stored = ClientRequest(.hosted, endingAt: destination.redirectURI)
        (stored.returnAddress.state, stored.codeChallenge) = (destination.appState, destination.codeChallenge)
        stored.opensShortSession = destination.opensShortSession ? true : nil
        let uri = try await store(stored, at: issuer, for: Self.hostedLifetime)
        let url = issuer.url(of: .authorization).addingQuery(["client_id": stored.clientID, "request_uri": uri])
        return AuthorizationRedirect(
            url: url, state: destination.appState, isForBrowser: request.isBrowserDriven)
    }

    /// Stores a request until a browser brings it, and returns its `request_uri`.
    private func store(
        _ request: ClientRequest, at issuer: Issuer, for lifetime: Duration = pushedLifetime
    ) async throws -> String {
        let id = opaque.make()
        try await store.store(
            StoredRequest(id, issuer: issuer.url, request: request), for: lifetime,
            application: issuer.application.id)
        return Self.pushedPrefix + id.text
    }

    // MARK: - The endpoint

    /// Answers a request that a browser brings.
    ///
    /// A form of another site comes without the browser's cookies, so it is stored and asked for again.
    package func authorize(_ parameters: RequestParameters, asForm isForm: Bool, in browser: Browser, at issuer: Issuer)
        async throws -> Response
    {
        if let uri = parameters["request_uri"], uri.utf8.starts(with: Self.pushedPrefix.utf8) {
            guard !isForm else {
                guard let client = parameters["client_id"] else { return .fault(.invalidRequestURI) }
                return .reload(requestURI: uri, clientID: client)
            }
            let id = String(decoding: uri.utf8.dropFirst(Self.pushedPrefix.utf8.count), as: UTF8.self)
            return try await resume(id, parameters, in: browser, at: issuer)
        }
        let client: OAuthClient
        let address: ReturnAddress
        do {
            (client, address) = try await validation.returnAddress(of: parameters, at: issuer)
        } catch AuthorizationFault.page(let fault) {
            return .fault(fault)
        } catch AuthorizationFault.redirect(let error, let address) {
            return .error(error, to: address)
        }
        do {
            let request = try await validation.validate(
                parameters, of: client, to: address, isPushed: false, at: issuer)
            if isForm {
                let uri = try await store(request, at: issuer)
                return .reload(requestURI: uri, clientID: client.id)
            }
            return try await decide(request, of: client, progress: nil, in: browser, at: issuer)
        } catch {
            return try Self.answer(to: error, at: address)
        }
    }

    /// The answer to an error after client and address are certain, so that the client learns of it.
    private static func answer(to error: any Error, at address: ReturnAddress) throws -> Response {
        switch error {
        case let error as OAuthError: return .error(error, to: address)
        case is CancellationError: throw error
        case AccountsError.overloaded, AccountsError.unavailable:
            return .failure(error, OAuthError(.temporarilyUnavailable, "The server is busy; try again"), to: address)
        default: return .failure(error, OAuthError(.serverError, "Something went wrong"), to: address)
        }
    }

    private func resume(
        _ id: String, _ parameters: RequestParameters, in browser: Browser, at issuer: Issuer
    ) async throws -> Response {
        let flow = browser.flow.flatMap(opaque.parse) ?? opaque.make()
        guard let id = opaque.parse(id),
            let stored = try await store.request(
                id.hash, of: parameters["client_id"] ?? "", at: issuer.url, broughtBy: flow.hash,
                lifetime: issuer.settings.requestLifetime, application: issuer.application.id),
            let client = try await validation.directory.client(of: stored.request, at: issuer),
            client.own != .accountPages
        else { return .fault(.invalidRequestURI) }
        do {
            return try await decide(
                stored.request, of: client, progress: (stored, id, flow), in: browser, at: issuer)
        } catch {
            // A request that was refused is over; one that the server failed at may be repeated. The client gets the error
            // even if the request can't be ended now, since it expires.
            if error is OAuthError { _ = try? await store.end(stored, application: issuer.application.id) }
            return try Self.answer(to: error, at: stored.request.returnAddress)
        }
    }

    /// Decides what a request needs next, and ends or stores it.
    private func decide(
        _ request: ClientRequest, of client: OAuthClient,
        progress: (stored: StoredRequest, id: OpaqueToken, flow: OpaqueToken)?, in browser: Browser, at issuer: Issuer
    ) async throws -> Response {
        let code = opaque.make()
        let new = NewCode(hash: code.hash, request: request, issuer: issuer.url, lifetime: Self.codeLifetime)
        var (sessions, isStored) = ([BrowserSession](), false)
        // A provider's pages are opened at once only in a browser where the person has to sign in.
        let readsSessions = progress != nil || !request.alwaysAsks || request.provider != nil
        if readsSessions, let cookie = browser.sessions.flatMap(opaque.parse) {
            let query = BrowserQuery(
                browser: cookie.hash, clientID: client.id, issuer: issuer.url, hint: request.hintedAddress,
                needsAbsorbed: request.subject != nil, code: progress == nil && !request.alwaysAsks ? new : nil)
            (sessions, isStored) = try await store.sessions(query, application: issuer.application.id)
        }
        var situation = RequestSituation(request: request, client: client)
        situation.progress = progress?.stored.progress ?? RequestProgress()
        situation.recentAuthentication = issuer.application.policy.recentAuthentication
        situation.sessions = sessions.map { session in
            var session = session
            session.isRequired =
                request.subject.map { subject in
                    session.isNamed(subject) { issuer.subject(of: $0, for: client, by: opaque) }
                } ?? false
            return session
        }
        switch nextStep(for: situation) {
        case .refuse(let code): throw OAuthError(refusing: code)
        case .finish(let session):
            if !isStored {
                let isIssued = try await store.issue(
                    code, for: request, of: session.id, finishing: progress?.stored.hash, at: issuer, by: opaque)
                guard isIssued else { return .fault(.invalidRequestURI) }
            }
            return .code(code.text, to: request.returnAddress)
        case .ask(let question):
            let provider = [.signIn, .signUp].contains(question) ? request.provider : nil
            let (id, flow) =
                if let progress { (progress.id.text, progress.flow.text) } else {
                    try await begin(request, in: browser, at: issuer)
                }
            return .page(
                request: id, provider: provider, browser: flow, namesLanguages: !request.locales.isEmpty)
        }
    }

    /// Stores a request of a browser, and returns the request's id and the value of the flow cookie.
    package func begin(
        _ request: ClientRequest, in browser: Browser, at issuer: Issuer
    ) async throws -> (id: String, flow: String) {
        try await store.open(request, in: browser, at: issuer, by: opaque)
    }
}
