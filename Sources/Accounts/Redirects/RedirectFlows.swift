internal import Foundation
package import ProviderKit

/// Redirects browsers to a provider's pages and back to the app's redirect URI.
///
/// The provider's response is converted to evidence, which is stored with a one-time code until the app redeems the
/// code (`CodeRedemption`). A code challenge binds the flow to the app, and a cookie binds it to the browser. The
/// server sends its own state, nonce and code challenge to the provider; the last two are derived from the state.
package struct RedirectFlows: Sendable {
    /// How long the person may take at the provider, including a forgotten password and a second factor.
    static let lifetime: Duration = .seconds(600)
    static let codeLifetime: Duration = .seconds(60)
    /// How long the evidence waits for a decision at the server's own pages.
    private static let pageCodeLifetime: Duration = .seconds(600)

    let store: any RedirectFlowStore & TrialStore
    let opaque: any OpaqueTokens
    let findings: FindingLog
    let time: any TimeSource

    /// Begins a flow at the provider of that name.
    ///
    /// Without a principal the flow signs in, with a principal it re-authenticates, and with `linking` it links. For
    /// re-authentication the provider must authenticate the person again. A flow that links is bound to the session.
    /// - Throws: `AccountsError`; `ProviderError.unavailable` if the provider's endpoints cannot be discovered.
    package func begin(
        _ request: AuthorizationRequest, with name: String, by principal: Principal? = nil, linking: Bool = false,
        in application: Application
    ) async throws -> AuthorizationRedirect {
        try await begin(
            to: request.destination(in: application, generatedState: opaque.make().text), with: name, by: principal,
            linking: linking, isFresh: principal != nil && !linking, inBrowser: request.isBrowserDriven,
            passing: request.parameters, in: application)
    }

    /// Begins a flow of a browser that returns to the page of the authorization request with this id.
    ///
    /// `isFresh` is whether the provider must authenticate the person again.
    package func begin(
        fromPageOf request: String, with name: String, by principal: Principal?, linking: Bool, isFresh: Bool,
        in application: Application
    ) async throws -> AuthorizationRedirect {
        try await begin(
            to: .page(of: request, state: opaque.make().text), with: name, by: principal, linking: linking,
            isFresh: isFresh, inBrowser: true, in: application)
    }

    private func begin(
        to destination: @autoclosure () throws -> FlowDestination, with name: String, by principal: Principal?,
        linking: Bool, isFresh: Bool, inBrowser isInBrowser: Bool, passing parameters: [String: String] = [:],
        in application: Application
    ) async throws -> AuthorizationRedirect {
        let configured = try application.providers.named(name)
        let provider: any RedirectProvider = try configured.capability()
        let state = opaque.make()
        let destination = try destination()
        try provider.check(parameters)
        let url = try await provider.authorizationURL(
            for: flow(state, with: configured, isFresh: isFresh, passing: parameters, in: application))
        let browser = isInBrowser ? opaque.make() : nil
        try await store.begin(
            NewRedirectFlow(
                state: state, provider: configured.name, destination: destination,
                linkingSession: linking ? principal?.sessionID : nil, isFresh: isFresh, browser: browser,
                lifetime: Self.lifetime), application: application.id)
        findings.noteRedirect(to: FindingLog.Owner(application: application.name, provider: configured.name))
        return AuthorizationRedirect(
            url: url, state: destination.appState, isForBrowser: isInBrowser,
            cookie: browser.map {
                FlowCookie(
                    for: state, value: $0.text, provider: name, isOfPage: destination.page != nil, in: application)
            })
    }

    /// Completes the provider's callback.
    ///
    /// `callback` reads the parameters, after the provider was checked; `cookie` returns a cookie's value by name.
    /// - Returns: the app's redirect URI with a code or an error in its query, or what a page gets instead.
    /// - Throws: `AccountsError.unsupportedProvider` for a provider without redirect flows;
    ///   `AccountsError.invalidState` for an unknown flow, since its redirect URI is unknown too.
    package func complete(
        _ callback: () throws -> RedirectCallback, from name: String, cookie: (String) -> String?,
        in application: Application
    ) async throws -> AuthorizationCallback {
        try application.providers.requireRedirecting(name)
        let callback = try callback()
        guard let state = callback["state"].flatMap(opaque.parse) else { throw AccountsError.invalidState }
        let ofHost = cookie(FlowCookie.name(for: state, isOfHost: true))
        let browser = (ofHost ?? cookie(FlowCookie.name(for: state))).flatMap(opaque.parse)
        let expired = browser.map { _ in
            FlowCookie(for: state, value: "", provider: name, isOfPage: ofHost != nil, in: application)
        }
        let answered = try await store.answer(
            state: state.hash, provider: name, browser: browser?.hash, application: application.id)
        guard let answered else { throw AccountsError.invalidState }
        let owner = FindingLog.Owner(application: application.name, provider: name)
        findings.noteReturn(from: owner)
        if let finding = callback.finding { findings.note(finding, of: owner) }
        let destination = answered.destination
        // Only its cookie binds a page's flow, so it must be one that no other host of the domain can set.
        guard destination.page == nil || ofHost != nil || !application.isSecure else {
            throw AccountsError.invalidState
        }
        if destination.isOfTrial {
            return try await completeTrial(
                callback, of: answered, state: state, from: name, expired: expired, in: application)
        }
        do {
            let evidence = try await evidence(
                in: callback, of: answered, state: state, from: application.providers.named(name), in: application)
            let code = opaque.make()
            try await store.issueCode(
                code, for: evidence, from: name, state: state.hash,
                lifetime: destination.page == nil ? Self.codeLifetime : Self.pageCodeLifetime,
                application: application.id)
            return AuthorizationCallback(
                destination.page.map { .page(PageReturn(to: $0, from: name, code: code, state: destination.appState)) }
                    ?? .app(destination.url(code: code)), expired: expired)
        } catch {
            let failure = FlowError(error)
            return AuthorizationCallback(
                destination.page.map { .page(PageReturn(to: $0, from: name, error: failure.code)) }
                    ?? .app(destination.url(failure)), expired: expired, failure: error)
        }
    }

    /// Converts the provider's response to evidence.
    /// - Throws: `FlowError`, and the errors of the provider.
    func evidence(
        in callback: RedirectCallback, of answered: AnsweredFlow, state: OpaqueToken,
        from configured: ConfiguredProvider, in application: Application
    ) async throws -> VerifiedIdentity {
        if let error = FlowError(ofProvider: callback) { throw error }
        try callback.refuseGarbage()
        let provider: any RedirectProvider = try configured.capability()
        let flow = flow(
            state, with: configured, isFresh: answered.isFresh, beganAt: answered.beganAt,
            isTrial: answered.destination.isOfTrial, in: application)
        return try await provider.complete(callback, of: flow).checked()
    }

    func flow(
        _ state: OpaqueToken, with provider: ConfiguredProvider, isFresh: Bool, beganAt: Date? = nil,
        passing parameters: [String: String] = [:], isTrial: Bool = false, in application: Application
    ) -> RedirectFlow {
        RedirectFlow(
            state: state.text, nonce: opaque.derived(from: state, for: .flowNonce).text,
            codeVerifier: opaque.derived(from: state, for: .flowProofKey).text,
            callbackURL: application.callbackURL(of: provider.name), requiresFreshLogin: isFresh, beganAt: beganAt,
            parameters: parameters, isTrial: isTrial)
    }
}

extension RedirectProvider {
    /// Checks what an app passes to the provider's page.
    /// - Throws: `AccountsError.invalidParameter`, whose text contains no value.
    fileprivate func check(_ parameters: [String: String]) throws {
        for (name, value) in parameters {
            guard forwardedParameters.containsBytes(of: name) else {
                throw AccountsError.invalidParameter("parameters.\(name)", reason: "does not go to this provider")
            }
            guard (1...256).contains(value.utf8.count) else {
                throw AccountsError.invalidParameter("parameters.\(name)", reason: "is empty or longer than 256 bytes")
            }
        }
    }
}

extension RedirectCallback {
    /// Rejects a malformed code without sending it to the provider, whose error response would be taken for an outage.
    /// - Throws: `ProviderError.refused`.
    fileprivate func refuseGarbage() throws {
        guard let code = self["code"] else { return }
        guard code.utf8.count <= 4096, code.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw ProviderError.refused
        }
    }
}

extension FlowDestination {
    /// What stands for the redirect URI of a page; the redirect URI of an app is absolute.
    static func pagePath(of request: String) -> String { "/signin/\(request)" }

    fileprivate static func page(of request: String, state: String) -> FlowDestination {
        FlowDestination(redirectURI: pagePath(of: request), appState: state, codeChallenge: nil)
    }

    /// The id of the authorization request at whose page the flow ends; `nil` if it ends at an app.
    fileprivate var page: String? {
        let prefix = Self.pagePath(of: "")
        return redirectURI.hasPrefix(prefix) ? String(redirectURI.dropFirst(prefix.count)) : nil
    }

    fileprivate func url(code: OpaqueToken) -> String {
        redirectURI.addingQuery(["code": code.text, "state": appState])
    }

    fileprivate func url(_ error: FlowError) -> String {
        redirectURI.addingQuery(["error": error.code, "error_description": error.sentence, "state": appState])
    }
}
