internal import Accounts
internal import Foundation
internal import OpenID
internal import Pages
internal import ProviderKit

/// The operations of the pages of mailed links, which an application without an OpenID provider has, too.
struct MailedLinkOperations: Sendable {
    let links: MailedLinks
    let refusals: RefusalAudit

    enum Output {
        /// The browser gets the page again without a query, after a token has moved from the URL to the cookie.
        case moved(token: OpaqueToken?)
        /// The browser gets the page again.
        case reload
        /// The page's form; without a form token it shows only the problem.
        case page(StepPage.Step, formToken: String?, problem: APIError?)
        /// The link is used up.
        case done(StepPage.Done, next: String?)
        /// The link is used up, and the person goes on with a request of the browser.
        case proven(StepResponse, request: String, Issuer)
        /// The link is used up, and the person decides at the page of a request.
        case asks(request: String, flow: String, Issuer)
        case forged
    }

    /// Shows the page, without using the link; the input is the token of the URL.
    func show(_ purpose: MailedLinks.Purpose) -> Operation<String?, Output> {
        Operation("\(purpose.rawValue).show", limits: .local) { context, token in
            if let token { return .moved(token: links.token(token)) }
            guard let pageContext = pageContext(purpose, context) else {
                return unusable(purpose, AccountsError.invalidToken)
            }
            do {
                return try await page(purpose, pageContext)
            } catch AccountsError.invalidToken {
                return unusable(purpose, AccountsError.invalidToken)
            }
        }
    }

    /// The use cases count the rate limits of the REST interface.
    func submit(_ purpose: MailedLinks.Purpose) -> Operation<FormFields, Output> {
        Operation(
            "\(purpose.rawValue).submit", limits: .local, hashesPassword: { _, _ in purpose != .review }
        ) { context, form in
            guard context.request.isFromOwnPage(of: context.scope) else { return .forged }
            guard let pageContext = pageContext(purpose, context) else {
                return unusable(purpose, AccountsError.invalidToken)
            }
            guard links.isValid(form["csrf"] ?? "", of: pageContext.token, at: purpose) else { return .forged }
            guard form.action == purpose.action else { return .reload }
            do {
                return try await use(purpose, form, pageContext)
            } catch {
                guard let problem = APIError(any: error), problem.code != .internal else { throw error }
                await refusals.record(error, by: nil, context)
                guard problem.code.leavesLink else { return unusable(purpose, error) }
                return try await page(purpose, pageContext, repeating: form, problem: problem)
            }
        }
    }

    private func use(
        _ purpose: MailedLinks.Purpose, _ form: FormFields, _ pageContext: MailedLinks.Context
    ) async throws -> Output {
        let (outcome, done): (MailedLinks.Outcome, StepPage.Done) =
            switch purpose {
            case .verifyEmail: (try await links.verify(password: form["password"], pageContext), .verified)
            case .resetPassword: (try await links.reset(to: form["password"], pageContext), .passwordSet)
            case .review:
                (
                    try await links.review(keeping: form.all("keep"), removing: form.all("remove"), pageContext),
                    .reviewed
                )
            case .invitation:
                (
                    try await links.accept(displayName: form["displayName"], password: form["password"], pageContext),
                    .invited
                )
            case .recover: (try await links.recover(to: form["password"], pageContext), .passwordSet)
            }
        switch (outcome, pageContext.openID?.issuer) {
        case (.proven(let answer, let request), let issuer?): return .proven(answer, request: request, issuer)
        case (.asks(let request, let flow), let issuer?): return .asks(request: request, flow: flow, issuer)
        case (.done(let request?), let issuer?):
            return .done(done, next: issuer.page(of: request))
        case (.done, _), (.proven, nil), (.asks, nil): return .done(done, next: nil)
        }
    }

    private func page(
        _ purpose: MailedLinks.Purpose, _ pageContext: MailedLinks.Context, repeating form: FormFields? = nil,
        problem: APIError? = nil
    ) async throws -> Output {
        let identities = purpose == .review ? try await links.identities(pageContext) : []
        let reviewed = identities.map { identity in
            let id = identity.id.text
            return StepPage.ReviewedIdentity(
                id: id, name: identity.name(in: pageContext.application), linkedAt: identity.linkedAt,
                isQuarantined: identity.isQuarantined, isKept: form?.all("keep").contains(id) == true,
                isRemoved: form?.all("remove").contains(id) == true)
        }
        return .page(
            step(purpose, reviewing: reviewed, name: form?["displayName"]),
            formToken: links.formToken(of: pageContext.token, at: purpose), problem: problem)
    }

    private func unusable(_ purpose: MailedLinks.Purpose, _ error: any Error) -> Output {
        .page(step(purpose, reviewing: [], name: nil), formToken: nil, problem: APIError(any: error))
    }

    private func step(
        _ purpose: MailedLinks.Purpose, reviewing identities: [StepPage.ReviewedIdentity], name: String?
    ) -> StepPage.Step {
        switch purpose {
        case .verifyEmail: .verifyEmail
        case .resetPassword: .resetPassword
        case .review: .review(identities)
        case .invitation: .invitation(name: name)
        case .recover: .recover
        }
    }

    /// `nil` if the browser has no token for the page.
    private func pageContext(_ purpose: MailedLinks.Purpose, _ context: OperationContext) -> MailedLinks.Context? {
        let cookie = MailedLinkCookie(of: purpose, in: context.scope)
        guard let token = context.request.cookie(cookie.name).flatMap(links.token) else { return nil }
        let openID = context.scope.application.openID.map {
            MailedLinks.Context.OpenID(issuer: $0, browser: $0.browser(of: context.request))
        }
        return MailedLinks.Context(
            token: token, client: context.client, application: context.application, openID: openID)
    }
}

extension MailedLinks.Purpose {
    fileprivate var action: String { self == .verifyEmail ? "verify" : "save" }
}

extension ErrorCode {
    /// Whether the person can use the link again after the error, with something else typed or later.
    fileprivate var leavesLink: Bool {
        switch self {
        case .invalidToken, .accountDeleted, .accountDisabled, .providerDisabled, .secondProofRequired, .limitReached:
            false
        default: true
        }
    }
}
