package import Accounts
internal import Foundation
internal import ProviderKit

/// The pages of mailed links.
///
/// The browser keeps a link's token in a cookie, because URLs are logged and shown. The page's form is tied to that
/// token, and only the form uses it, because mail scanners open links. The pages exist without an OpenID provider, too;
/// with one they lead on to the authorization request that is open in the browser.
package struct MailedLinks: Sendable {
    package enum Purpose: String, Sendable, CaseIterable {
        case verifyEmail = "verify-email"
        case resetPassword = "reset-password"
        case review
        case invitation
        case recover
    }

    /// What a browser brings to a page.
    package struct Context: Sendable {
        package let token: OpaqueToken
        let client: Client
        package let application: Application
        package let openID: OpenID?

        /// The OpenID provider of the application, and the browser's cookies.
        package struct OpenID: Sendable {
            package let issuer: Issuer
            let browser: Authorization.Browser

            package init(issuer: Issuer, browser: Authorization.Browser) {
                (self.issuer, self.browser) = (issuer, browser)
            }
        }

        package init(token: OpaqueToken, client: Client, application: Application, openID: OpenID?) {
            (self.token, self.client, self.application, self.openID) = (token, client, application, openID)
        }
    }

    package enum Outcome: Sendable {
        /// The link has done what it was mailed for; `request` is the request that is open in the browser.
        case done(request: String?)
        /// The browser is signed in, and goes on with the request.
        case proven(StepResponse, request: String)
        /// The request asks whether to restore the account; `flow` is the value of the flow cookie.
        case asks(request: String, flow: String)
    }

    typealias Store = AuthorizationStore & SessionEndStore

    let store: any Store
    let steps: RequestSteps
    let registration: Registration
    let passwordReset: PasswordReset
    let identityReview: IdentityReview
    let invitations: Invitations
    let recovery: AccountRecovery
    let limits: any RateLimiting
    let opaque: any OpaqueTokens

    // MARK: - Token and form

    /// The token of a URL or a cookie; `nil` for a text that can be none.
    package func token(_ text: String) -> OpaqueToken? { opaque.parse(text) }

    /// The hidden field of the page's form.
    package func formToken(of token: OpaqueToken, at purpose: Purpose) -> String {
        form(of: token, at: purpose).text(showing: "")
    }

    package func isValid(_ formToken: String, of token: OpaqueToken, at purpose: Purpose) -> Bool {
        form(of: token, at: purpose).isValid(formToken)
    }

    private func form(of token: OpaqueToken, at purpose: Purpose) -> FormToken {
        FormToken(opaque: opaque, flow: token, path: purpose.rawValue)
    }

    // MARK: - Forms

    /// Confirms a registration with the registered password, and signs in to the request that is open in the browser.
    ///
    /// Without such a request the page keeps no session.
    package func verify(password: String?, _ context: Context) async throws -> Outcome {
        let application = context.application
        try await limits.spend(.login, of: RateSubject(context.client), in: application)
        guard let password else { throw AccountsError.missingParameter("password") }
        let request = try await openRequest(context)
        guard let request else {
            let session = try await registration.verify(
                context.token.text, requiring: password, from: context.client, in: application
            ).session.grant
            _ = try await store.endSession(
                session.sessionID, of: session.uid, because: .signedOut, application: application.id)
            return .done(request: nil)
        }
        let cookie = opaque.make()
        let signedIn = try await registration.verify(
            context.token.text, requiring: password,
            from: steps.proofs.client(under: cookie, remember: false, request), in: application)
        let answer = try await steps.proceed(request, as: signedIn, under: cookie)
        if case .fault = answer { return .done(request: nil) }
        return .proven(answer, request: request.request)
    }

    /// Sets a new password, which ends every session of the account.
    ///
    /// If the account is being deleted, a request asks whether to restore it with that password. That opens no session
    /// either, because somebody may have sent the link to another person.
    package func reset(to password: String?, _ context: Context) async throws -> Outcome {
        try await spend(asCallOf: "POST /api/v1/auth/reset-password", context)
        guard let password else { throw AccountsError.missingParameter("password") }
        do {
            try await passwordReset.reset(
                context.token.text, to: password, from: context.client, in: context.application)
        } catch AccountsError.accountDeleted(let purgeAfter, let token?, let refusal) {
            let decision = PendingDecision.restore(
                token: token, purgeAfter: purgeAfter, remember: false, keepsSession: false)
            guard let request = try await begin(decision, context) else {
                throw AccountsError.accountDeleted(purgeAfter: purgeAfter, restoreToken: token, refusal)
            }
            return request
        }
        return .done(request: try await openRequest(context)?.request)
    }

    /// The identities that the person keeps or removes.
    package func identities(_ context: Context) async throws -> [Identity] {
        try await identityReview.identities(for: context.token.text, in: context.application)
    }

    /// Keeps and removes identities, by their ids.
    package func review(keeping keep: [String], removing remove: [String], _ context: Context) async throws -> Outcome {
        try await spend(asCallOf: "POST /api/v1/auth/identities/review", context)
        let ids = try [("keep", keep), ("remove", remove)].map { field, texts in
            try texts.map { text in
                guard let id = UUID(uuidString: text) else {
                    throw AccountsError.invalidParameter(field, reason: "names no identity")
                }
                return id
            }
        }
        try await identityReview.review(
            context.token.text, keeping: ids[0], removing: ids[1], in: context.application)
        return .done(request: nil)
    }

    /// Opens the account of an invitation.
    ///
    /// The page keeps no session: somebody may have sent the link to another person, who would then use the account of
    /// the sender's address without noticing.
    package func accept(displayName: String?, password: String?, _ context: Context) async throws -> Outcome {
        try await end(context) {
            try await invitations.accept(
                context.token.text, password: password, displayName: displayName, from: context.client,
                in: context.application)
        }
    }

    /// Sets a new password with the link of an administrator; as after a reset, the person signs in with it.
    package func recover(to password: String?, _ context: Context) async throws -> Outcome {
        guard let password else { throw AccountsError.missingParameter("password") }
        return try await end(context) {
            try await recovery.recover(
                context.token.text, to: password, from: context.client, in: context.application)
        }
    }

    /// Ends the session that a link opens, and leads on to the request that is open in the browser.
    private func end(_ context: Context, _ signIn: () async throws -> SignedIn) async throws -> Outcome {
        try await limits.spend(.forgotPassword, of: RateSubject(context.client), in: context.application)
        let session = try await signIn().session.grant
        _ = try await store.endSession(
            session.sessionID, of: session.uid, because: .signedOut, application: context.application.id)
        return .done(request: try await openRequest(context)?.request)
    }

    private func spend(asCallOf route: String, _ context: Context) async throws {
        try await limits.spend(asCallOf: route, by: context.client, in: context.application)
    }

    /// Lets the person decide at the browser's open request, or at a new one that ends at the account pages.
    /// - Returns: `nil` without an OpenID provider.
    private func begin(_ decision: PendingDecision, _ context: Context) async throws -> Outcome? {
        guard let openID = context.openID else { return nil }
        let application = context.application.id
        let open = try await openRequest(context)
        let (request, flow) =
            if let open, let flow = open.browser.flow { (open.request, flow) } else {
                try await store.open(
                    ClientRequest(endingAt: .overview, of: openID.issuer), in: openID.browser, at: openID.issuer,
                    by: opaque)
            }
        try await retryingOnConflict {
            guard let id = opaque.parse(request),
                var stored = try await store.openRequest(id.hash, application: application)
            else { return }
            (stored.progress.pending, stored.progress.challenge) = (decision, nil)
            guard try await store.update(stored, application: application) else { throw StoreConflict() }
        }
        return .asks(request: request, flow: flow)
    }

    /// The newest request that is open in the browser.
    private func openRequest(_ context: Context) async throws -> RequestSteps.Context? {
        guard let openID = context.openID, let flow = openID.browser.flow.flatMap(opaque.parse),
            let id = try await store.newestRequest(
                of: flow.hash, at: openID.issuer.urls, application: context.application.id)
        else { return nil }
        return RequestSteps.Context(
            request: id, linked: nil, browser: openID.browser, client: context.client, issuer: openID.issuer)
    }
}
